#include "self_test.h"

namespace tidy {
namespace {

// `head`, `{`, and enough lines for a total of `lines`.
std::string block(const std::string& head, int lines, const std::string& end = "}\n") {
  std::string text = head + " {\n";
  for (int i = 0; i < lines - 2; ++i) text += "  g();\n";
  return text + end;
}

Sample measured(std::string text, std::vector<int> lines) {
  return {"function-length", {{"src/base/a.cpp", std::move(text)}}, std::move(lines)};
}

}  // namespace

std::vector<Sample> samples_of_functions() {
  const std::vector<int> none;
  std::vector<Sample> out;
  const std::vector<std::string> heads = {
      "void f()",
      "void f(int a = 1, std::map<int, int> b = {})",
      "template <class T = int> void f()",
      "A::A(int a) : a_{a}, b_(a)",
      "A::A(int a)  noexcept : Base<int>{a}",
      "A::A() : b_(1), a_{{1}, 2}",
      "bool A::operator==(const A& other) const",
      "bool A::operator()(int a) const noexcept",
      "auto f() -> std::vector<int>",
      "struct stat f()",
      "TEST_CASE(\"a { b\", \"[c]\")",
      "[[nodiscard]] static int f() noexcept(true)",
      "extern \"C\" void f()",
      "const auto f = [](int a)",
      "const auto f = [&]",
      "namespace a::b { class C : public D { public: explicit C(int a) : a_(a)",
      "#define OPEN {\nenum class E { a, b };\nint x{1};\nvoid f()",
  };
  for (const std::string& head : heads) {
    const bool nested = head.starts_with("namespace");
    const bool variable = head.starts_with("const auto");
    const std::string end = nested ? "}};}\n" : variable ? "};\n" : "}\n";
    const int first = head.starts_with('#') ? 4 : 1;
    out.push_back(measured(block(head, 71, end), {first}));
    out.push_back(measured(block(head, 70, end), none));
  }
  // Long text that is not a function.
  out.push_back(measured(block("namespace a", 200), none));
  out.push_back(measured(block("struct A", 200, "};\n"), none));
  out.push_back(
      measured(block("class COFFER_TSA(capability(\"m\")) A : public B", 200, "};\n"), none));
  out.push_back(measured(block("enum class A : int", 200, "};\n"), none));
  out.push_back(measured(block("extern \"C\"", 200), none));
  out.push_back(measured(block("constexpr int kTable[] =", 200, "};\n"), none));
  out.push_back(
      measured("const auto t = to_array<int>({\n" + std::string(100, '\n') + "});\n", none));
  out.push_back(measured("int a;\n\n// a comment\n\n" + block("void f()", 70), none));
  // Lambdas count as part of their function, and separately in a table.
  out.push_back(measured("void f() {\n" + block("  auto g = [](int a)", 70, "};\n") + "}\n", {1}));
  out.push_back(
      measured("const Rule kRules[] = {\n  " + block("{\"a\", [](int a)", 71) + "}};\n", {2}));
  out.push_back(measured("const bool b = call(" + block("[]", 71) + ");\n", {1}));
  out.push_back(measured(block("void f()", 71) + block("void g()", 71), {1, 72}));
  // A function after one with odd braces is still measured; unmatched braces are a finding.
  out.push_back(
      measured("char c = '{';\nconst char* s = \"}}\";  // {\n" + block("void f()", 71), {3}));
  out.push_back(
      measured("void f() {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\n", {1}));
  out.push_back(measured("void f() {\n}\n}\n", {3}));
  return out;
}

}  // namespace tidy
