<?php

/**
 * Runtime of the PHP client of the payment gateway coffer. It requires PHP 8.1 or later with curl, and no package.
 */

declare(strict_types=1);

namespace Coffer;

/** An exact decimal number as text. */
final class Decimal
{
    /**
     * Returns the text of a decimal number such as "12.50". A float is refused: it cannot represent most decimal
     * fractions.
     */
    public static function of(string|int|float $value): string
    {
        if (is_float($value)) {
            throw new InvalidArgument("the amount $value is a float; use a decimal string such as \"12.50\"");
        }
        if (preg_match('/^-?[0-9]+(\.[0-9]+)?$/D', (string) $value) !== 1) {
            throw new InvalidArgument("\"$value\" is not a decimal number such as \"12.50\"");
        }
        return (string) $value;
    }
}

/** The default of a member of a merge patch: the member stays as it is. Null removes it. */
enum Patch
{
    case Keep;
}

/** A struct of the API. Its form on the wire is its JSON. */
abstract class Struct implements \JsonSerializable
{
    /** Members that are written as null if they are null; other members are left out. */
    protected const NULLABLE = [];

    /** Members that are JSON objects also if they are empty. */
    protected const MAPS = [];

    /** Members with only one value. */
    protected const FIXED = [];

    /** Members that debugging output does not show. */
    protected const SECRETS = [];

    /** @return array<string, mixed> the form on the wire */
    public function toArray(): array
    {
        $members = static::FIXED;
        foreach (get_object_vars($this) as $name => $value) {
            if ($value !== Patch::Keep && ($value !== null || in_array($name, static::NULLABLE, true))) {
                $empty = $value === [] && in_array($name, static::MAPS, true);
                $members[$name] = $empty ? new \stdClass() : self::wire($value);
            }
        }
        return $members;
    }

    /** @return array<string, mixed> */
    final public function jsonSerialize(): array
    {
        return $this->toArray();
    }

    /** @return array<string, mixed> what debugging output shows */
    final public function __debugInfo(): array
    {
        return array_fill_keys(static::SECRETS, '[secret]') + get_object_vars($this);
    }

    /**
     * Reads a member of a merge patch.
     *
     * @param array<string, mixed> $data
     */
    final protected static function patch(array $data, string $name, callable $read): mixed
    {
        return array_key_exists($name, $data) ? ($data[$name] === null ? null : $read($data[$name])) : Patch::Keep;
    }

    /** Returns a value in its form on the wire. */
    final public static function wire(mixed $value): mixed
    {
        return match (true) {
            $value instanceof self => $value->toArray(),
            $value instanceof \DateTimeInterface => \DateTimeImmutable::createFromInterface($value)
                ->setTimezone(new \DateTimeZone('UTC'))->format('Y-m-d\TH:i:s.v\Z'),
            is_array($value) => array_map(self::wire(...), $value),
            default => $value,
        };
    }
}

/** An error of this client. */
interface Failure extends \Throwable
{
}

/** A request was not sent, because an argument is invalid. */
final class InvalidArgument extends \InvalidArgumentException implements Failure
{
}

/**
 * A request got no response. If `maybeDone` is set, the server can have processed it: repeat a payment with the same
 * `transactionId`, or find it by that ID in the list of transactions.
 */
final class ConnectionError extends \RuntimeException implements Failure
{
    public function __construct(string $message, public readonly bool $maybeDone, int $code = 0)
    {
        $text = $maybeDone ? "no response, so the request may have been processed: $message" : $message;
        parent::__construct($text, $code);
    }
}

/** The payment has no final status yet. */
final class WaitTimeout extends \RuntimeException implements Failure
{
    /** @param ?Transaction $transaction the last state, or null if it could not be read */
    public function __construct(public readonly ?Transaction $transaction)
    {
        parent::__construct('the payment is still ' . ($transaction?->status ?? 'unknown'));
    }
}

/** A webhook delivery is not verified. Respond 401. */
final class WebhookError extends \RuntimeException implements Failure
{
}

/** A response is not what the API describes. */
final class UnexpectedResponse extends \UnexpectedValueException implements Failure
{
}

/** An error response. */
final class Problem extends \RuntimeException implements Failure
{
    /**
     * @param string $slug kind of the problem, such as `Slug::INSUFFICIENT_FUNDS`; empty if the body is not a problem
     * @param array<string, string> $errors messages by field
     * @param string $requestId name it when you contact the operator
     * @param int $retryAfter seconds of the least wait before a repetition; 0 if the server named none
     */
    public function __construct(
        public readonly int $status,
        public readonly string $slug,
        public readonly string $title,
        public readonly string $detail,
        public readonly array $errors,
        public readonly string $requestId,
        public readonly int $retryAfter = 0,
    ) {
        $text = implode(' ', array_filter([(string) $status, $slug])) . ': ' . ($detail ?: $title);
        parent::__construct($requestId === '' ? $text : "$text (request $requestId)", $status);
    }

    /** Reads a problem, or the envelope of the business routes. */
    public static function of(Response $response): self
    {
        $body = json_decode($response->body, true);
        $body = is_array($body) ? $body : [];
        $slug = '';
        $detail = self::text($body, 'detail');
        if (str_starts_with(self::text($body, 'type'), 'urn:coffer:problem:')) {
            $slug = substr(self::text($body, 'type'), strlen('urn:coffer:problem:'));
        } elseif (preg_match('/^([A-Z_]+): (.*)$/Ds', self::text($body, 'message'), $parts) === 1) {
            [$slug, $detail] = [strtr(strtolower($parts[1]), '_', '-'), $parts[2]];
        }
        $errors = [];
        foreach (is_array($body['errors'] ?? null) ? $body['errors'] : [] as $error) {
            if (is_array($error)) {
                $errors[self::text($error, 'field')] = self::text($error, 'message');
            }
        }
        $title = self::text($body, 'title') ?: "HTTP status {$response->status}";
        $requestId = self::text($body, 'requestId') ?: $response->headers['x-request-id'] ?? '';
        $retryAfter = $response->headers['retry-after'] ?? '';
        return new self(
            $response->status,
            $slug,
            $title,
            $detail,
            $errors,
            $requestId,
            ctype_digit($retryAfter) ? (int) $retryAfter : 0,
        );
    }

    /** @param array<mixed> $body */
    private static function text(array $body, string $name): string
    {
        return is_string($body[$name] ?? null) ? $body[$name] : '';
    }
}

/** An HTTP response. Names of headers are in lower case. */
final class Response
{
    /** @param array<string, string> $headers */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
    ) {
    }
}

/** Address and credentials of an application, and limits of time in seconds. */
final class Config
{
    /**
     * @param string $scope requests a token with fewer permissions; empty: all
     * @param string $connectSecret for the Connect group only, as are `publicKey` and `signInSecret`
     * @param float $attemptTimeout of one attempt
     * @param float $deadline of all attempts of a call
     * @param float $retryDelay before the first repetition
     * @param ?\Closure(): float $monotonic for tests: a clock that only moves forward, in seconds
     */
    public function __construct(
        public readonly string $baseUrl,
        public readonly string $clientId = '',
        #[\SensitiveParameter] public readonly string $clientSecret = '',
        #[\SensitiveParameter] public readonly string $apiKey = '',
        public readonly string $scope = '',
        #[\SensitiveParameter] public readonly string $connectSecret = '',
        public readonly string $publicKey = '',
        #[\SensitiveParameter] public readonly string $signInSecret = '',
        public readonly float $attemptTimeout = 20.0,
        public readonly float $deadline = 60.0,
        public readonly float $retryDelay = 0.25,
        public readonly ?\Closure $monotonic = null,
    ) {
        if (preg_match('#^https?://[^/]+#', $baseUrl) !== 1) {
            throw new InvalidArgument("baseUrl \"$baseUrl\" is not an http or https URL");
        }
    }

    /** @return array<string, string> what debugging output shows */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->baseUrl, 'clientId' => $this->clientId];
    }
}

/** Sends requests with authorization and repetitions. The generated class Client extends it. */
abstract class Runtime
{
    private const REPEATABLE_STATUSES = [408, 502, 504];
    private const UNPROCESSED_STATUSES = [429, 503]; // the server has done nothing
    private const UNCONNECTED = [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_PROXY];
    private const PERMANENT = [CURLE_SSL_CACERT, CURLE_SSL_CACERT_BADFILE, CURLE_URL_MALFORMAT];
    private const DELAY_MAX_S = 8.0;
    private const FINAL_STATUSES = ['succeeded', 'failed', 'refunded', 'refund_failed', 'expired'];

    private \CurlHandle $curl;

    /** @var array<string, array{token: string, renewAt: float}> by kind of authorization */
    private array $tokens = [];

    /** The deadline of the call, which the request of its token shares, or of waiting. */
    private float $end = INF;

    public function __construct(private readonly Config $config)
    {
        $this->curl = curl_init();
    }

    /** @return array<string, mixed> what debugging output shows */
    public function __debugInfo(): array
    {
        return ['config' => $this->config];
    }

    /**
     * Waits until the status of a payment is final, and returns the record. Throws WaitTimeout after `timeout` seconds.
     *
     * @param ?callable(float): void $sleep waits for this number of seconds. It can return earlier, for example when
     *     your webhook has reported an event of this payment: the record is read at once.
     */
    public function waitForPayment(
        string $transactionRecordId,
        float $timeout = 60.0,
        float $interval = 1.0,
        ?callable $sleep = null,
    ): Transaction {
        $sleep ??= static fn (float $seconds) => usleep((int) ($seconds * 1e6));
        $end = $this->realTime() + $timeout;
        $transaction = null;
        while (true) {
            try {
                $this->end = $end;
                $transaction = $this->getTransaction($transactionRecordId);
            } catch (ConnectionError $failure) {
                throw $this->realTime() >= $end - 0.01 ? new WaitTimeout($transaction) : $failure;
            } finally {
                $this->end = INF;
            }
            if (in_array($transaction->status, self::FINAL_STATUSES, true)) {
                return $transaction;
            }
            $left = $end - $this->realTime();
            if ($left <= 0) {
                throw new WaitTimeout($transaction);
            }
            $sleep(min($interval, $left));
        }
    }

    abstract public function getTransaction(string $transactionId): Transaction;

    abstract public function createToken(TokenRequest $body): Token;

    abstract public function signIn(SignIn $body): Session;

    /**
     * Fills the parameters into a path. An empty one would name another resource.
     *
     * @param array<string, string> $values
     */
    protected static function path(string $path, array $values): string
    {
        foreach ($values as $name => $value) {
            if (in_array($value, ['', '.', '..'], true)) {
                throw new InvalidArgument("$name \"$value\" is not an ID");
            }
            $path = str_replace('{' . $name . '}', rawurlencode($value), $path);
        }
        return $path;
    }

    /**
     * Iterates over the rows of all pages. A page can be empty and not the last.
     *
     * @param callable(?string): object{data: list<mixed>, nextCursor: ?string} $read reads the page of a cursor
     * @return \Generator<int, mixed>
     */
    protected static function pages(callable $read, ?string $cursor): \Generator
    {
        do {
            $page = $read($cursor);
            foreach ($page->data as $row) {
                yield $row;
            }
            $cursor = $page->nextCursor;
        } while ($cursor !== null);
    }

    /**
     * Makes a call, with repetitions until the deadline.
     *
     * @param array<string, mixed> $query
     * @param ?array<string, mixed> $body
     * @param string $auth public, token or connect
     * @param bool $repeatable false: it is repeated only if the server did nothing
     * @param int $success a status other than 2xx that has a result
     * @param bool $json a successful response that is not JSON counts as lost
     */
    protected function send(
        string $method,
        string $path,
        string $auth,
        bool $repeatable,
        array $query = [],
        ?array $body = null,
        bool $form = false,
        int $success = 200,
        bool $json = true,
    ): string {
        $query = array_filter(array_map(Struct::wire(...), $query), static fn (mixed $value) => $value !== null);
        $url = rtrim($this->config->baseUrl, '/') . $path;
        $url .= $query === [] ? '' : '?' . http_build_query($query, '', '&', PHP_QUERY_RFC3986);
        $headers = ['Accept: application/json, application/problem+json, */*'];
        $text = null;
        if ($body !== null) {
            $text = $form ? http_build_query($body) : self::encode($body);
            $headers[] = 'Content-Type: application/' . ($form ? 'x-www-form-urlencoded' : 'json');
        }
        $outer = $this->end;
        $this->end = min($outer, $this->realTime() + $this->config->deadline);
        try {
            return $this->repeat($method, $url, $headers, $text, $auth, $repeatable, $success, $json);
        } finally {
            $this->end = $outer;
        }
    }

    /** @param list<string> $headers */
    private function repeat(
        string $method,
        string $url,
        array $headers,
        #[\SensitiveParameter] ?string $text,
        string $auth,
        bool $repeatable,
        int $success,
        bool $json,
    ): string {
        [$renewed, $lost] = [false, false];
        for ($attempt = 0;; $attempt++) {
            $sent = $headers;
            if ($auth !== 'public') {
                $key = $auth === 'connect' ? $this->config->connectSecret : $this->config->apiKey;
                array_push($sent, "x-svc-auth: $key", 'Authorization: Bearer ' . $this->authorize($auth));
            }
            $wait = min($this->config->retryDelay * 2 ** min($attempt, 16), self::DELAY_MAX_S);
            $wait *= random_int(500, 1000) / 1000;
            try {
                $response = $this->attempt($method, $url, $sent, $text, $repeatable);
                if (intdiv($response->status, 100) === 2 || $response->status === $success) {
                    return $json && json_decode($response->body) === null
                        ? throw new ConnectionError('the response is not JSON', true)
                        : $response->body;
                }
                if ($response->status === 404 && $method === 'DELETE' && $lost && !$json) {
                    return ''; // the attempt without a response has deleted it
                }
                $failure = Problem::of($response);
                if ($failure->status === 401 && $auth !== 'public' && !$renewed) {
                    $renewed = true;
                    unset($this->tokens[$auth]);
                    continue;
                }
                $repeat = in_array($failure->status, self::UNPROCESSED_STATUSES, true)
                    || $repeatable && in_array($failure->status, self::REPEATABLE_STATUSES, true);
                $wait += $failure->retryAfter;
            } catch (ConnectionError $failure) {
                $lost = $lost || $failure->maybeDone;
                $permanent = in_array($failure->getCode(), self::PERMANENT, true);
                $repeat = !$permanent && ($repeatable || !$failure->maybeDone);
            }
            if (!$repeat || $this->realTime() + $wait > $this->end) {
                throw $failure;
            }
            usleep((int) ($wait * 1e6));
        }
    }

    /**
     * Decodes the JSON of a result.
     *
     * @return array<string, mixed>
     */
    protected static function decode(string $body): array
    {
        try {
            $value = json_decode($body, true, 64, JSON_THROW_ON_ERROR | JSON_BIGINT_AS_STRING);
        } catch (\JsonException $error) {
            throw new UnexpectedResponse('the response is not JSON: ' . $error->getMessage());
        }
        return is_array($value) ? $value : throw new UnexpectedResponse('the response is not a JSON object');
    }

    /** @param array<string, mixed> $body */
    private static function encode(array $body): string
    {
        array_walk_recursive($body, static function (mixed $value, string|int $name): void {
            if (is_float($value)) {
                throw new InvalidArgument("$name is a float; use a decimal string such as \"12.50\"");
            }
        });
        try {
            return json_encode($body ?: new \stdClass(), JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
        } catch (\JsonException $error) {
            throw new InvalidArgument('the request is not valid: ' . $error->getMessage());
        }
    }

    /** @param list<string> $headers */
    private function attempt(
        string $method,
        string $url,
        #[\SensitiveParameter] array $headers,
        #[\SensitiveParameter] ?string $body,
        bool $repeatable,
    ): Response {
        $received = [];
        $timeout = min($this->config->attemptTimeout, $this->end - $this->realTime());
        curl_reset($this->curl);
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $url,
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => [...$headers, 'Expect:'],
            CURLOPT_USERAGENT => 'coffer-php/' . Client::VERSION,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT_MS => max(1, (int) ($timeout * 1000)),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_PATH_AS_IS => true,
            // curl repeats a request whose reused connection breaks, without a notice.
            CURLOPT_FRESH_CONNECT => !$repeatable || $method === 'DELETE',
            CURLOPT_HEADERFUNCTION => static function (\CurlHandle $curl, string $line) use (&$received): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $received[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ] + ($body === null ? [] : [CURLOPT_POSTFIELDS => $body])
          + ($body === null && $method === 'POST' ? [CURLOPT_POSTFIELDS => ''] : []));
        $content = curl_exec($this->curl);
        $error = curl_errno($this->curl);
        if ($error !== 0 || !is_string($content)) {
            $text = curl_error($this->curl) ?: curl_strerror($error) ?? '';
            $unsent = [...self::UNCONNECTED, ...self::PERMANENT];
            throw new ConnectionError($text, !in_array($error, $unsent, true), $error);
        }
        return new Response((int) curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $received, $content);
    }

    /** Returns a bearer token, and renews it before it ends. */
    private function authorize(string $auth): string
    {
        $asked = $this->now();
        if ($asked < ($this->tokens[$auth]['renewAt'] ?? -INF)) {
            return $this->tokens[$auth]['token'];
        }
        if ($auth === 'connect') {
            $session = $this->signIn(new SignIn($this->config->publicKey, $this->config->signInSecret));
            [$token, $life] = [$session->idToken, $session->expiresIn];
        } else {
            [$id, $secret, $scope] = [$this->config->clientId, $this->config->clientSecret, $this->config->scope];
            $issued = $this->createToken(new TokenRequest($id, $secret, $scope ?: null));
            [$token, $life] = [$issued->accessToken, $issued->expiresIn];
        }
        $this->tokens[$auth] = ['token' => $token, 'renewAt' => $asked + $life - min(60, $life / 10)];
        return $token;
    }

    /** A clock that a change of the wall clock does not affect. */
    private function now(): float
    {
        return $this->config->monotonic === null ? $this->realTime() : ($this->config->monotonic)();
    }

    private function realTime(): float
    {
        return hrtime(true) / 1e9;
    }
}

/** Verifies webhook deliveries (Standard Webhooks). */
final class WebhookVerifier
{
    /**
     * Returns the event of a delivery. Act on each event once: a delivery can repeat with the same `webhook-id`.
     *
     * @param string $body the raw bytes: `file_get_contents('php://input')`
     * @param array<string, string> $headers by name, as from `getallheaders()`
     * @param list<string> $secrets `whsec_…`; during a rotation, both
     * @param int $tolerance largest difference between timestamp and clock, in seconds
     * @param ?int $now for tests: the time in Unix seconds
     * @throws WebhookError if the delivery is not verified
     */
    public static function verify(
        string $body,
        array $headers,
        #[\SensitiveParameter] array $secrets,
        int $tolerance = 300,
        ?int $now = null,
    ): Event {
        $headers = array_change_key_case($headers);
        $id = $headers['webhook-id'] ?? '';
        $time = $headers['webhook-timestamp'] ?? '';
        $signatures = $headers['webhook-signature'] ?? '';
        if ($id === '' || $time === '' || $signatures === '') {
            throw new WebhookError('a webhook header is missing');
        }
        if (preg_match('/^[0-9]{1,12}$/D', $time) !== 1) {
            throw new WebhookError('webhook-timestamp is not a time in seconds');
        }
        $age = ($now ?? time()) - (int) $time;
        if (abs($age) > $tolerance) {
            throw new WebhookError("its time differs from the clock by $age s");
        }
        foreach ($secrets as $secret) {
            $key = base64_decode(preg_replace('/^whsec_/', '', $secret) ?? '', true);
            if ($key === false || $key === '') {
                throw new InvalidArgument('a webhook secret is not whsec_ and base64');
            }
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$time.$body", $key, true));
            foreach (explode(' ', $signatures) as $given) {
                if (hash_equals($expected, $given)) {
                    $event = json_decode($body, true);
                    return Event::fromArray(is_array($event) ? $event : throw new WebhookError('the body is not JSON'));
                }
            }
        }
        throw new WebhookError('no signature matches');
    }
}
