// The compiler must refuse the marked lines; otherwise the marks are errors.
import { Client, types } from "coffer-client";

declare const client: Client;
const payment: types.OwnTransfer = {
  transactionId: "t-1", sourceWalletId: "a", destinationWalletId: "b", sendingAssetCode: "USDC", amount: "1",
};

// @ts-expect-error: a number is not a decimal
export const amount: types.OwnTransfer = { ...payment, amount: 12.5 };

// @ts-expect-error: the amount is missing
export const missing: types.OwnTransfer = { transactionId: "t-1", sourceWalletId: "a", destinationWalletId: "b", sendingAssetCode: "USDC" };

// @ts-expect-error: not a member of a payment
export const retired: types.OwnTransfer = { ...payment, idempotencyKey: "k" };

export async function check(): Promise<void> {
  const transaction = await client.getTransaction("0190a5a0-0000-7000-8000-000000000000");
  if (transaction.status === "succeeded" || transaction.status === "a-status-of-a-later-version") return;
  // @ts-expect-error: optional in a transaction
  transaction.sendingAmount.toUpperCase();
}
