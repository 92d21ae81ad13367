<?php
// A consumer of coffer's webhooks. It verifies and stores each event, responds, and then processes it.
//
//   export WEBHOOK_SECRETS='whsec_…' INBOX=inbox
//   php -S 127.0.0.1:3000 consumer.php    receives (or use any web server that runs this file for /hooks)
//   php consumer.php                      processes, in another terminal or as a service
//
// During a rotation, set WEBHOOK_SECRETS to both secrets, separated by a space. Requires only PHP 8.1 or
// later.
declare(strict_types=1);

const TOLERANCE_S = 300;
const BODY_BYTES_MAX = 1024 * 1024; // coffer's limit is 128 KiB by default; its operator can raise it
const RETRY_S = 5;

define('INBOX', getenv('INBOX') ?: dirname(__DIR__) . '/inbox'); // outside the document root of a web server
const NEW_DIR = INBOX . '/new'; // stored and acknowledged, not processed yet
const DONE_DIR = INBOX . '/done'; // processed; kept to recognise repeated deliveries
const PAYMENTS = INBOX . '/payments'; // the latest state of each payment

function say(string $text): void
{
    file_put_contents('php://stderr', $text . "\n");
}

function is_id(mixed $text): bool
{
    return is_string($text) && preg_match('/^[A-Za-z0-9_-]{1,64}$/D', $text) === 1;
}

/** The keys for verification. */
function keys(): array
{
    $keys = [];
    foreach (preg_split('/\s+/', getenv('WEBHOOK_SECRETS') ?: '', -1, PREG_SPLIT_NO_EMPTY) as $secret) {
        $keys[] = $key = (string) base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if (strlen($key) < 24) {
            throw new RuntimeException('WEBHOOK_SECRETS contains an invalid secret; expected whsec_…');
        }
    }
    return $keys ?: throw new RuntimeException('WEBHOOK_SECRETS is not set');
}

// --- Verify -------------------------------------------------------------------------------------------

/** The reason to reject a delivery, or null. The body contains the raw bytes, before any parsing. */
function rejection(string $body): ?string
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
            if (hash_equals($expected, $given)) { // constant time
                return null;
            }
        }
    }
    return 'no signature matches';
}

// --- Store --------------------------------------------------------------------------------------------

/** Stores the event on disk. Returns false if it was stored before. */
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
    $first = @link($draft, NEW_DIR . "/$id"); // atomic, and succeeds in one process only
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

/** Replace this with your work. It must be idempotent, because after a crash it can run twice for an event. */
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

/** The stored events, in order of sequence. */
function kept_events(): array
{
    $events = [];
    foreach (array_diff(scandir(NEW_DIR), ['.', '..']) as $id) {
        $path = NEW_DIR . "/$id";
        if (file_exists(DONE_DIR . "/$id")) {
            unlink($path); // redelivered during processing
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
    flock($lock, LOCK_EX); // one process at a time
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
                say("failed $event[sequence] $event[type], will be retried: " . $error->getMessage());
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
    $reason = rejection($body);
    if ($reason !== null) {
        say("rejected: $reason");
        return 401;
    }
    if (!is_event($body)) {
        return 400;
    }
    $id = $_SERVER['HTTP_WEBHOOK_ID'];
    say((keep($id, $body) ? 'kept' : 'repeated') . " $id");
    return 204;
}

// Treat PHP warnings as failures: without a success response, coffer retries and no event is lost.
set_error_handler(function (int $level, string $text): bool {
    return error_reporting() & $level ? throw new RuntimeException($text) : true;
});
foreach ([NEW_DIR, DONE_DIR, PAYMENTS] as $folder) {
    is_dir($folder) || @mkdir($folder, 0700, true) || is_dir($folder) || exit("cannot make $folder\n");
}
if (PHP_SAPI === 'cli') {
    keys(); // fail now instead of at the first event
    work();
}
try {
    http_response_code(receive());
} catch (Throwable $error) {
    http_response_code(500); // not stored: coffer retries
    say('error: ' . $error->getMessage());
}
