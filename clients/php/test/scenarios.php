<?php

// Executes the scenarios of clients/scenarios.json with the PHP client; see clients/README.md.
//
//   php scenarios.php FILE [ROW]...

declare(strict_types=1);

use Coffer\Client;
use Coffer\Config;
use Coffer\ConnectionError;
use Coffer\InvalidArgument;
use Coffer\Problem;
use Coffer\Struct;
use Coffer\WaitTimeout;
use Coffer\WebhookError;
use Coffer\WebhookVerifier;

require __DIR__ . '/../src/autoload.php';

set_error_handler(static function (int $level, string $text, string $file, int $line): bool {
    throw new ErrorException($text, 0, $level, $file, $line);
});

/** Executes rows. */
final class Runner
{
    private Client $client;
    private float $elapsed = 0.0;

    /** @param array<string, mixed> $input */
    public function __construct(private array $input)
    {
    }

    public function run(array $row): void
    {
        $this->control(['row' => $row['name']]);
        $change = $row['client'] ?? [];
        $keys = $this->fill(($change['keys'] ?? []) + $this->input['keys']);
        $this->elapsed = 0.0;
        $this->client = new Client(new Config(
            $this->fill($change['baseUrl'] ?? $this->input['baseUrl']),
            $keys['clientId'],
            $keys['clientSecret'],
            $keys['apiKey'],
            $change['scope'] ?? '',
            $keys['connectSecret'],
            $keys['publicKey'],
            $keys['signInSecret'],
            (float) ($change['timeout'] ?? 20),
            (float) ($change['deadline'] ?? 30),
            0.05,
            fn (): float => hrtime(true) / 1e9 + $this->elapsed, // no part of the client reads the wall clock
        ));
        foreach ($row['steps'] as $number => $step) {
            try {
                $this->step($this->fill($step));
            } catch (Throwable $error) {
                $place = basename($error->getFile()) . ':' . $error->getLine();
                throw new RuntimeException('step ' . ($number + 1) . ": {$error->getMessage()} ($place)");
            }
        }
    }

    private function step(array $step): void
    {
        try {
            $result = self::plain($this->perform($step));
        } catch (Throwable $error) {
            if (!isset($step['error'])) {
                throw $error;
            }
            self::compare($step['error'], self::describe($error), 'error');
            return;
        }
        if (isset($step['error'])) {
            throw new RuntimeException('no error, expected ' . json_encode($step['error']));
        }
        if (array_key_exists('expect', $step)) {
            self::compare($step['expect'], $result, 'result');
        }
        foreach ($step['save'] ?? [] as $name => $path) {
            $value = $result;
            foreach (explode('.', $path) as $part) {
                $value = $value[$part] ?? throw new RuntimeException("$path not found");
            }
            $this->input['vars'][$name] = is_scalar($value) ? (string) $value : json_encode($value);
        }
    }

    private function perform(array $step): mixed
    {
        return match (true) {
            isset($step['wait']) => $this->wait($step),
            isset($step['webhook']) => WebhookVerifier::verify(
                $step['webhook']['body'],
                $step['webhook']['headers'],
                $step['webhook']['secrets'],
                now: (int) $step['webhook']['now'],
            ),
            isset($step['control']) => $this->control($step['control']),
            isset($step['elapse']) => $this->elapsed += $step['elapse'],
            default => $this->call($step),
        };
    }

    private function call(array $step): mixed
    {
        $name = $step['call'] ?? $step['list'] ?? $step['page'] . 'Page';
        $method = new ReflectionMethod($this->client, $name);
        $arguments = ($step['path'] ?? []) + ($step['query'] ?? []);
        foreach ($method->getParameters() as $parameter) {
            if ($parameter->getName() === 'body' && isset($step['body'])) {
                $arguments['body'] = $parameter->getType()->getName()::fromArray($step['body']);
            }
        }
        $result = $method->invokeArgs($this->client, $arguments);
        return isset($step['list']) ? iterator_to_array($result, false) : $result;
    }

    private function wait(array $step): mixed
    {
        $timeout = (float) ($step['timeout'] ?? 20);
        if (!isset($step['meanwhile'])) {
            return $this->client->waitForPayment($step['wait'], $timeout, 0.05);
        }
        $sleep = function (float $seconds) use (&$step): void {
            if ($step['meanwhile'] === []) {
                throw new RuntimeException('the event did not end the wait');
            }
            foreach ($step['meanwhile'] as $meanwhile) {
                $this->step($meanwhile);
            }
            $step['meanwhile'] = [];
        };
        return $this->client->waitForPayment($step['wait'], $timeout, 3600.0, $sleep);
    }

    private function control(array $body): mixed
    {
        $context = stream_context_create(['http' => [
            'method' => 'POST',
            'header' => 'Content-Type: application/json',
            'content' => json_encode($body ?: new stdClass()),
        ]]);
        return json_decode(file_get_contents($this->input['control'], false, $context), true);
    }

    private function fill(mixed $value): mixed
    {
        if (is_array($value)) {
            return array_map($this->fill(...), $value);
        }
        if (!is_string($value)) {
            return $value;
        }
        $named = fn (array $name): string => $this->input['vars'][$name[1]];
        return preg_replace_callback('/\$\{(\w+)\}/', $named, $value);
    }

    /** Returns a value in its form on the wire. */
    private static function plain(mixed $value): mixed
    {
        return json_decode(json_encode(Struct::wire($value), JSON_THROW_ON_ERROR), true);
    }

    private static function describe(Throwable $error): array
    {
        if ($error instanceof Problem) {
            return ['kind' => 'problem', 'text' => $error->getMessage()] + get_object_vars($error);
        }
        $kind = match (true) {
            $error instanceof InvalidArgument => 'refused',
            $error instanceof ConnectionError => 'connection',
            $error instanceof WaitTimeout => 'timeout',
            $error instanceof WebhookError => 'webhook',
            default => get_class($error),
        };
        return ['kind' => $kind, 'text' => $error->getMessage()];
    }

    private static function compare(mixed $expected, mixed $value, string $at): void
    {
        $fault = static fn (string $wanted): RuntimeException =>
            new RuntimeException("$at: " . json_encode($value) . ", expected $wanted");
        if (!is_array($expected)) {
            if ($expected === '*' ? $value === null : $value !== $expected) {
                throw $fault((string) json_encode($expected));
            }
        } elseif (isset($expected['$contains'])) {
            if (!is_string($value) || !str_contains($value, $expected['$contains'])) {
                throw $fault("text with {$expected['$contains']}");
            }
        } elseif (isset($expected['$length']) || isset($expected['$atLeast'])) {
            $count = is_array($value) && array_is_list($value) ? count($value) : -1;
            if ($count < ($expected['$atLeast'] ?? 0) || $count !== ($expected['$length'] ?? $count)) {
                throw $fault((string) json_encode($expected));
            }
        } elseif (!is_array($value) || (array_is_list($expected) && count($value) !== count($expected))) {
            throw $fault((string) json_encode($expected));
        } else {
            foreach ($expected as $name => $member) {
                self::compare($member, $value[$name] ?? null, "$at.$name");
            }
        }
    }
}

$input = json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR);
$runner = new Runner($input);
foreach ($input['rows'] as $row) {
    if ($argc > 2 && !in_array($row['name'], array_slice($argv, 2), true)) {
        continue;
    }
    $report = ['row' => $row['name'], 'ok' => true];
    try {
        $runner->run($row);
    } catch (Throwable $error) {
        $report = ['row' => $row['name'], 'ok' => false, 'fault' => $error->getMessage()];
    }
    echo json_encode($report, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
