package coffer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"coffer.example/go/coffer"
)

// server is a gateway with one asset, whose tokens live for an hour.
func server(t *testing.T, tokens *int32) *coffer.Client {
	gateway := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/v1/auth/token" {
			atomic.AddInt32(tokens, 1)
			fmt.Fprint(response, `{"accessToken":"t","tokenType":"Bearer","expiresIn":3600,"associationId":"a"}`)
			return
		}
		fmt.Fprint(response, `{"code":"USDC","issuer":"G","name":"USD Coin","decimals":7,"networkName":"COFFER"}`)
	}))
	t.Cleanup(gateway.Close)
	client, err := coffer.New(coffer.Config{BaseURL: gateway.URL, ClientSecret: "hidden"})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestConcurrentCallsShareAToken(t *testing.T) {
	var tokens int32
	client := server(t, &tokens)
	var group sync.WaitGroup
	for i := 0; i < 32; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if asset, err := client.GetAsset(context.Background(), "USDC"); err != nil || asset.Decimals != 7 {
				t.Errorf("%v %v", asset, err)
			}
		}()
	}
	group.Wait()
	if tokens != 1 {
		t.Errorf("%d tokens", tokens)
	}
}

func TestCancelledContextEndsACall(t *testing.T) {
	var tokens int32
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := server(t, &tokens).GetAsset(ctx, "USDC"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSecretsAreNotFormatted(t *testing.T) {
	body := coffer.TokenRequest{ClientID: "app", ClientSecret: "hidden"}
	if text := fmt.Sprintf("%v %+v %#v %s", body, body, body, body.ClientSecret); text !=
		`{app [secret] } {ClientID:app ClientSecret:[secret] Scope:} `+
			`coffer.TokenRequest{ClientID:"app", ClientSecret:"[secret]", Scope:""} [secret]` {
		t.Error(text)
	}
}

func TestAnEmptyPathParameterIsInvalid(t *testing.T) {
	var tokens int32
	client := server(t, &tokens)
	for _, id := range []string{"", ".", ".."} {
		if _, err := client.GetWallet(context.Background(), id); !errors.Is(err, coffer.ErrInvalid) {
			t.Error(id, err)
		}
	}
	if tokens != 0 {
		t.Error("a request was sent")
	}
}
