package coffer_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"coffer.example/go/coffer"
)

func Example() {
	ctx := context.Background()
	client, err := coffer.New(coffer.Config{
		BaseURL: "https://pay.example.com", ClientID: "app_…", ClientSecret: "sk_…", APIKey: "ak_…"})
	if err != nil {
		log.Fatal(err)
	}
	accepted, err := client.TransferBetweenOwnWallets(ctx, coffer.OwnTransfer{
		TransactionID:       "invoice-2026-0042",
		SourceWalletID:      "0190a5a0-0000-7000-8000-000000000001",
		DestinationWalletID: "0190a5a0-0000-7000-8000-000000000002",
		SendingAssetCode:    "USDC",
		Amount:              "12.50",
	})
	if err != nil {
		log.Fatal(err)
	}
	payment, err := client.WaitForPayment(ctx, accepted.TransactionRecordID, time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payment.Status, payment.SendingAmount)
}

func ExampleIterator() {
	client, err := coffer.New(coffer.Config{BaseURL: "https://pay.example.com"})
	if err != nil {
		log.Fatal(err)
	}
	wallets := client.ListWallets(coffer.ListWalletsParams{AssetCode: "USDC"})
	for wallets.Next(context.Background()) {
		fmt.Println(wallets.Value().WalletName)
	}
	if err := wallets.Err(); err != nil {
		log.Fatal(err)
	}
}
