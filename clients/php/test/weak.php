<?php

// A file without strict types, where PHP would convert a float to a string silently.

return new Coffer\WalletFunding('USDC', 12.5);
