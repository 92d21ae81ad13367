<?php

// Tests of the runtime without a server. Exits with 1 if one fails.

declare(strict_types=1);

use Coffer\BeneficiaryPatch;
use Coffer\BeneficiaryPatchIndividual;
use Coffer\Client;
use Coffer\Config;
use Coffer\ConnectionError;
use Coffer\Event;
use Coffer\Failure;
use Coffer\InvalidArgument;
use Coffer\NewWallet;
use Coffer\Offramp;
use Coffer\PersonMetadata;
use Coffer\TokenRequest;
use Coffer\UnknownEvent;
use Coffer\Wallet;
use Coffer\WalletFunding;

require __DIR__ . '/../src/autoload.php';

$failures = 0;
$check = static function (string $what, bool $holds) use (&$failures): void {
    echo $holds ? 'ok       ' : 'FAILED   ', $what, "\n";
    $failures += $holds ? 0 : 1;
};
$refuses = static function (callable $act): bool {
    try {
        $act();
    } catch (InvalidArgument) {
        return true;
    }
    return false;
};
$offramp = static fn (mixed $fields): Offramp => new Offramp(
    't-1',
    'quote',
    'wallet',
    'payee',
    'SALARY',
    'SAVINGS',
    'SELF',
    additionalFields: $fields,
);
$config = new Config('http://127.0.0.1:1', 'app', 'hidden', 'hidden', signInSecret: 'hidden', deadline: 0.1);
$client = new Client($config);

$check('a float is refused', $refuses(static fn () => new WalletFunding('USDC', 12.5)));
$check('also without strict types', $refuses(static fn () => require __DIR__ . '/weak.php'));
$check('also in free-form fields', $refuses(static fn () => $client->executeOfframp($offramp(['income' => 0.1]))));
$check('text that is no number is refused', $refuses(static fn () => new WalletFunding('USDC', '12,50')));
$check('an integer is exact', (new WalletFunding('USDC', 12))->amount === '12');
$check('an empty ID is refused', $refuses(static fn () => $client->getWallet('')));
$check('so is a relative path', $refuses(static fn () => $client->getWallet('..')));
$check('an invalid address is refused', $refuses(static fn () => new Config('example.com')));

$shown = print_r($client, true) . print_r(new TokenRequest('app', 'hidden'), true);
ob_start();
var_dump($client, new TokenRequest('app', 'hidden'));
$shown .= ob_get_clean();
try {
    $client->getAsset('USDC');
} catch (ConnectionError $error) {
    $shown .= $error;
    $check('without a connection, nothing was done', !$error->maybeDone && $error instanceof Failure);
}
$check('secrets are not shown', !str_contains($shown, 'hidden') && str_contains($shown, 'app'));

$patch = new BeneficiaryPatch(new BeneficiaryPatchIndividual(email: null), tags: []);
$check('a patch has what was given', json_encode($patch) === '{"individual":{"email":null},"tags":[]}');
$check('an empty map is an object', json_encode($offramp([])->toArray()['additionalFields']) === '{}');
$person = new PersonMetadata('Ada', 'Obi', '1990-04-12', 'KE');
$written = json_decode((string) json_encode(new NewWallet('Ada', 'USDC', metadata: $person)), true);
$check('a union has its type', $written['metadata']['entityType'] === 'Person');
$event = Event::fromArray(['type' => 'payment.invented', 'id' => '1']);
$check('an unknown event keeps its members', $event instanceof UnknownEvent && $event->data['id'] === '1');
$wallet = [
    'id' => '1', 'walletName' => 'Float', 'accountNumber' => '1', 'publicKey' => 'G', 'networkName' => 'COFFER',
    'assetCode' => 'USDC', 'ownAccount' => true, 'status' => 'Invented', 'balances' => [], 'new' => 1,
    'createdAt' => '2026-01-31T09:00:00.125Z', 'updatedAt' => '2026-01-31T10:00:00+01:00',
];
$read = Wallet::fromArray($wallet);
$check('unknown values and members are accepted', $read->status === 'Invented');
$check('times keep their milliseconds', $read->toArray()['createdAt'] === '2026-01-31T09:00:00.125Z');
$check('times are written in UTC', $read->toArray()['updatedAt'] === '2026-01-31T09:00:00.000Z');

exit($failures > 0 ? 1 : 0);
