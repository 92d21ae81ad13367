import { Client } from "coffer-client";

const client = new Client({ baseUrl: "https://pay.example.com", clientId: "app_…", clientSecret: "sk_…", apiKey: "ak_…" });
const accepted = await client.transferBetweenOwnWallets({
  transactionId: "invoice-2026-0042",
  sourceWalletId: "0190a5a0-0000-7000-8000-000000000001",
  destinationWalletId: "0190a5a0-0000-7000-8000-000000000002",
  sendingAssetCode: "USDC",
  amount: "12.50",
});
const payment = await client.waitForPayment(accepted.transactionRecordId);
console.log(payment.status, payment.sendingAmount);
