<?php

// The example of the README.

declare(strict_types=1);

use Coffer\{Client, Config, OwnTransfer};

$client = new Client(new Config('https://pay.example.com', clientId: 'app_…', clientSecret: 'sk_…', apiKey: 'ak_…'));
$accepted = $client->transferBetweenOwnWallets(new OwnTransfer(
    transactionId: 'invoice-2026-0042',
    sourceWalletId: '0190a5a0-0000-7000-8000-000000000001',
    destinationWalletId: '0190a5a0-0000-7000-8000-000000000002',
    sendingAssetCode: 'USDC',
    amount: '12.50',
));
$payment = $client->waitForPayment($accepted->transactionRecordId);
echo $payment->status, ' ', $payment->sendingAmount, "\n";
