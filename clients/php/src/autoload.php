<?php

// Loads the client without Composer.

declare(strict_types=1);

require_once __DIR__ . '/runtime.php';
require_once __DIR__ . '/types.php';
require_once __DIR__ . '/operations.php';
