# For a separate tap. Fill in homepage, url, sha256 and head when you publish a release.
class Coffer < Formula
  desc "Payment gateway in one binary and one SQLite file"
  homepage "https://coffer.example"
  url "https://coffer.example/archive/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"
  head "https://coffer.example/coffer.git", branch: "main"

  livecheck do
    url :homepage
    regex(/href=.*?v?(\d+(?:\.\d+)+)\.t/i)
  end

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "help2man" => :build
  depends_on "iso-codes" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  # The build downloads one file of the admin page through npm and runs none of its code.
  depends_on "node" => :build
  depends_on "c-ares"
  depends_on "fmt"
  # The libc++ of earlier macOS versions cannot format floating-point numbers.
  depends_on macos: :sonoma
  depends_on "openssl@3"
  depends_on "pugixml"
  depends_on "re2"
  depends_on "spdlog"
  depends_on "utf8proc"

  # Homebrew's own SQLiteCpp is a shared library that brings another SQLite, so coffer links a static one.
  resource "sqlitecpp" do
    url "https://github.com/SRombauts/SQLiteCpp/archive/refs/tags/3.3.3.tar.gz"
    sha256 "33bd4372d83bc43117928ee842be64d05e7807f511b5195f85d30015cad9cac6"
  end

  def install
    # The folder for the pinned sources, which the build checks by SHA-256: see third_party/manifest.cmake.
    ENV["COFFER_THIRD_PARTY_DIR"] = buildpath/"pinned"
    resource("sqlitecpp").stage do
      system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DSQLITECPP_RUN_CPPLINT=OFF",
             "-DSQLITECPP_INTERNAL_SQLITE=OFF", "-DSQLITE_OMIT_LOAD_EXTENSION=ON",
             *std_cmake_args(install_prefix: buildpath/"sqlitecpp")
      system "cmake", "--build", "build"
      system "cmake", "--install", "build"
    end
    tables = Formula["iso-codes"].opt_share/"iso-codes/json"
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCOFFER_ISO_CODES_DIR=#{tables}",
           "-DCOFFER_WERROR=OFF", "-DCMAKE_PREFIX_PATH=#{buildpath}/sqlitecpp", *std_cmake_args
    system "cmake", "--build", "build", "--target", "coffer"
    bin.install "build/coffer", "build/coffer-provider-sim"

    pkgshare.install "docs/webhook-consumers"

    (buildpath/"coffer.toml").write Utils.safe_popen_read(bin/"coffer", "settings", "toml")
    pkgetc.install "coffer.toml"
    man1.mkpath
    system "packaging/man/make.sh", bin/"coffer", man1
    generate_completions_from_executable(bin/"coffer", "completion", shells: [:bash, :zsh, :fish])
  end

  def post_install
    (var/"coffer").mkpath
    (var/"coffer").chmod 0700
  end

  def caveats
    <<~TEXT
      To sign in to the admin page of the running service:
        coffer admin link --db #{var}/coffer/coffer.db
    TEXT
  end

  service do
    run [opt_bin/"coffer", "serve", "--init", "--config", etc/"coffer/coffer.toml", "--db", var/"coffer/coffer.db"]
    keep_alive crashed: true
    working_dir var/"coffer"
    log_path var/"log/coffer.log"
    error_log_path var/"log/coffer.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/coffer --version")
    port = free_port
    demo = spawn bin/"coffer", "demo", "--port", port.to_s, "--db", testpath/"demo.db", "--json",
                 out: testpath/"demo.json"
    begin
      system "curl", "--silent", "--fail", "--retry", "5", "--retry-connrefused",
             "http://127.0.0.1:#{port}/healthz"
      demo_facts = JSON.parse((testpath/"demo.json").read)
      keys = demo_facts.slice("clientId", "clientSecret").to_json
      token = JSON.parse(shell_output("curl -s http://127.0.0.1:#{port}/v1/auth/token " \
                                      "-H 'Content-Type: application/json' -d '#{keys}'"))["accessToken"]
      from, to = demo_facts["wallets"].select { |wallet| wallet["assetCode"] == "USDC" }
      payment = { transactionId: "brew", sendingAssetCode: "USDC", amount: "1.00",
                  sourceWalletId: from["id"], destinationWalletId: to["id"] }.to_json
      said = shell_output("curl -s http://127.0.0.1:#{port}/v1/payments/p2p/own " \
                          "-H 'x-svc-auth: #{demo_facts["apiKey"]}' -H 'Authorization: Bearer #{token}' " \
                          "-H 'Content-Type: application/json' -d '#{payment}'")
      assert_match "transactionRecordId", said
    ensure
      Process.kill "TERM", demo
      Process.wait demo
    end
    system bin/"coffer", "verify", "--db", testpath/"demo.db"
  end
end
