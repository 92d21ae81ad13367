<?php
// A consumer of coffer's webhooks: verify, keep, answer, and only then process.
//
//   export WEBHOOK_SECRETS='whsec_…' INBOX=inbox
//   php -S 127.0.0.1:3000 consumer.php    receives (or any web server that runs this file for /hooks)
//   php consumer.php                      processes, in another terminal or as a service
//
// During a rotation WEBHOOK_SECRETS holds both secrets, with a space between them. PHP 8.1 or later and
// nothing else.
declare(strict_types=1);

const TOLERANCE_S = 300;
const BODY_BYTES_MAX = 1024 * 1024; // coffer's own limit is 128 KiB unless its operator raises it
const RETRY_S = 5;

define('INBOX', getenv('INBOX') ?: dirname(__DIR__) . '/inbox'); // not where a web server would show it
const NEW_DIR = INBOX . '/new'; // kept and answered, not processed yet
const DONE_DIR = INBOX . '/done'; // processed; remembered so that a repetition is known
const PAYMENTS = INBOX . '/payments'; // the latest state of each payment

function say(string $text): void
{
    file_put_contents('php://stderr', $text . "\n");
}

function is_id(mixed $text): bool
{
    return is_string($text) && preg_match('/^[A-Za-z0-9_-]{1,64}$/D', $text) === 1;
}

/** The keys to verify with. */
function keys(): array
{
    $keys = [];
    foreach (preg_split('/\s+/', getenv('WEBHOOK_SECRETS') ?: '', -1, PREG_SPLIT_NO_EMPTY) as $secret) {
        $keys[] = $key = (string) base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if (strlen($key) < 24) {
            throw new RuntimeException('WEBHOOK_SECRETS holds something that is no secret of coffer');
        }
    }
    return $keys ?: throw new RuntimeException('WEBHOOK_SECRETS is not set');
}

// --- Verify -------------------------------------------------------------------------------------------

/** Why a delivery is refused, or null. The body is the bytes as they came, before any parsing. */
function refusal(string $body): ?string
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $time = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    $signatures = $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '';
    if ($id === '' || $time === '' || $signatures === '') {
        return 'a header is missing';
    }
    if (!is_id($id)) {
        return 'webhook-id is malformed';
    }
    if (preg_match('/^[0-9]{1,12}$/D', $time) !== 1) {
        return 'webhook-timestamp is malformed';
    }
    if (abs(time() - (int) $time) > TOLERANCE_S) {
        return 'too old, or a clock is wrong';
    }
    foreach (keys() as $key) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
        foreach (explode(' ', $signatures) as $given) {
            if (hash_equals($expected, $given)) { // takes the same time wherever they differ
                return null;
            }
        }
    }
    return 'no signature matches';
}

// --- Keep ---------------------------------------------------------------------------------------------

/** On disk when it returns. False: it was there already. */
function keep(string $id, string $body): bool
{
    if (file_exists(DONE_DIR . "/$id")) {
        return false;
    }
    $draft = INBOX . '/draft-' . bin2hex(random_bytes(16));
    $file = fopen($draft, 'xb');
    if ($file === false || fwrite($file, $body) !== strlen($body) || !fsync($file)) {
        throw new RuntimeException('the event could not be written');
    }
    fclose($file);
    $first = @link($draft, NEW_DIR . "/$id"); // all of it or nothing, and only one can win
    unlink($draft);
    $folder = fopen(NEW_DIR, 'r');
    if ($folder === false || !fsync($folder) || !($first || is_known($id))) {
        throw new RuntimeException('the event could not be kept');
    }
    return $first;
}

function is_known(string $id): bool
{
    clearstatcache();
    return file_exists(NEW_DIR . "/$id") || file_exists(DONE_DIR . "/$id");
}

// --- Process ------------------------------------------------------------------------------------------

/** Your work goes here. A crash can make it run twice for an event, so it must not mind. */
function apply(array $event): string
{
    if (($event['test'] ?? false) || !str_starts_with($event['type'], 'payment.')) {
        return 'nothing to do';
    }
    ['id' => $id, 'version' => $version, 'status' => $status] = $event['data'];
    if (!is_id($id)) {
        throw new RuntimeException('data.id is malformed');
    }
    $path = PAYMENTS . "/$id";
    $known = file_exists($path) ? json_decode(file_get_contents($path), true) : ['version' => 0];
    if ($version <= $known['version']) {
        return 'overtaken by a later event';
    }
    file_put_contents("$path.draft", json_encode(['version' => $version, 'status' => $status]));
    rename("$path.draft", $path);
    return "$id $status";
}

/** What is to be done, in order of sequence. */
function kept_events(): array
{
    $events = [];
    foreach (array_diff(scandir(NEW_DIR), ['.', '..']) as $id) {
        $path = NEW_DIR . "/$id";
        if (file_exists(DONE_DIR . "/$id")) {
            unlink($path); // repeated while it was processed
        } else {
            $events[$id] = json_decode(file_get_contents($path), true);
        }
    }
    uasort($events, fn (array $a, array $b) => $a['sequence'] <=> $b['sequence']);
    return $events;
}

function work(): never
{
    $lock = fopen(INBOX . '/lock', 'c');
    flock($lock, LOCK_EX); // only one at a time
    $wait_until = [];
    while (true) {
        clearstatcache();
        foreach (kept_events() as $id => $event) {
            if (($wait_until[$id] ?? 0) > time()) {
                continue;
            }
            try {
                say("processed $event[sequence] $event[type]: " . apply($event));
                rename(NEW_DIR . "/$id", DONE_DIR . "/$id");
            } catch (Throwable $error) {
                $wait_until[$id] = time() + RETRY_S;
                say("failed $event[sequence] $event[type], will be tried again: " . $error->getMessage());
            }
        }
        usleep(200_000);
    }
}

// --- Serve --------------------------------------------------------------------------------------------

function is_event(string $body): bool
{
    $event = json_decode($body, true);
    return is_array($event) && is_string($event['type'] ?? null) && is_int($event['sequence'] ?? null);
}

function receive(): int
{
    if ($_SERVER['REQUEST_URI'] !== '/hooks') {
        return 404;
    }
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return 405;
    }
    $body = file_get_contents('php://input', false, null, 0, BODY_BYTES_MAX + 1);
    if (strlen($body) > BODY_BYTES_MAX) {
        return 413;
    }
    $reason = refusal($body);
    if ($reason !== null) {
        say("refused: $reason");
        return 401;
    }
    if (!is_event($body)) {
        return 400;
    }
    $id = $_SERVER['HTTP_WEBHOOK_ID'];
    say((keep($id, $body) ? 'kept' : 'repeated') . " $id");
    return 204;
}

// A warning of PHP is a failure here: better no answer of success than an event that is lost.
set_error_handler(function (int $level, string $text): bool {
    return error_reporting() & $level ? throw new RuntimeException($text) : true;
});
foreach ([NEW_DIR, DONE_DIR, PAYMENTS] as $folder) {
    is_dir($folder) || @mkdir($folder, 0700, true) || is_dir($folder) || exit("cannot make $folder\n");
}
if (PHP_SAPI === 'cli') {
    keys(); // better now than at the first event
    work();
}
try {
    http_response_code(receive());
} catch (Throwable $error) {
    http_response_code(500); // not kept: coffer will send it again
    say('error: ' . $error->getMessage());
}
