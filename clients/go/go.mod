module coffer.example/go/coffer

go 1.19
