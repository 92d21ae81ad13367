// Texts of the screens under Market, Access and System; see strings.js.
export const setup = {
  associations: {
    intro:
      'Customers whose money the ledger holds. A suspended association can read but not move money; ' +
      'settlements in progress finish.',
    empty: 'No associations yet.',
    emptyNext: 'Create one, then register an application that calls the API for it.',
    quotas: 'Quotas',
    noQuotas: 'No quotas.',
  },
  applications: {
    intro: 'Programs that call the API. Secrets are shown once, when they are issued.',
    empty: 'No applications yet.',
    emptyNext: 'Register one to get its API credentials.',
    registerFor: (name) => `Register an application for ${name}`,
    scopes: (count) => (count === 1 ? '1 scope' : `${count} scopes`),
  },
  users: {
    intro:
      'People who log in to an application with a password and a one-time code. They are not operators of this page.',
    empty: 'No users yet.',
    emptyNext: 'Add a user if people log in through your application.',
  },
  sandbox: {
    intro: 'Advance the clock of this demo, or load test data from files.',
    clock: 'Clock',
    clockText: 'Advance the clock to let quotes expire, retries become due and statement days pass.',
    now: 'The time of the demo is ',
    ahead: (minutes) => (minutes === 0 ? '. It has not been advanced.' : `, ${minutes} min ahead.`),
    fixtures: 'Test data',
    fixturesText:
      'Apply a file with declarations, submit payments from a CSV file, or send a sample event. The first two show a ' +
      'preview before they change anything.',
  },
  operators: {
    intro:
      'A viewer sees everything except secrets. An operator does the daily work. An administrator may run every ' +
      'command.',
    empty: 'No operators yet.',
    emptyNext: 'Invite the first one.',
  },
  tokens: {
    intro:
      'With a token, a program runs commands over HTTP under its own name. It is never shown again, and ends on its day.',
    empty: 'No tokens yet.',
    emptyNext: 'Create one for each program.',
  },
  audit: {
    intro:
      'Commands from this page and the command line, sign-ins and changes of credentials, newest first. ' +
      'Entries cannot be changed or removed.',
    empty: 'No entries yet.',
    emptyNext: 'Every command that changes something is recorded here before it runs.',
  },
  notifications: {
    intro: 'Messages to recipients of payments, newest first.',
    empty: 'No notifications yet.',
    emptyNext: 'A payment that requests a notification creates one.',
  },
  alerts: {
    intro:
      'Conditions that need attention, and the messages about them. The settings alert_webhook_url and alert_email ' +
      'define the targets.',
    noMessages: 'None',
    empty: 'No alerts yet.',
    emptyNext: 'An alert begins when a condition needs attention. A test shows whether its messages arrive.',
  },
  connectors: {
    intro: 'Routes to providers. A paused connector issues no quotes; accepted payments finish.',
    pause: 'Pause',
    resume: 'Resume',
    corridor: 'Corridor',
    pair: 'Pair',
    empty: 'No connectors yet.',
    emptyNext: 'Add one for each provider, country and method. Connectors price payouts and collections.',
  },
  quotes: {
    intro: 'Prices that applications requested, and the payments that used them.',
    toPayment: 'Payment',
    paymentId: 'Payment ID',
    empty: 'No quotes yet.',
    emptyNext: 'Applications request quotes with POST /v1/quotes. A quote needs a connector with a rate: ',
  },
  fees: {
    intro: 'Fees for single associations, which replace the fee of the connector.',
    empty: 'Every association pays the fee of the connector.',
    emptyNext: 'Set a fee to change it for one association.',
  },
  rates: {
    title: 'Rates',
    intro: 'Exchange rates for swaps, and the liquidity that swaps use.',
    change: 'Change',
    remove: 'Remove',
    empty: 'No rates yet. Swaps need at least one.',
    emptyNext: 'Set one for each pair and direction.',
    assets: 'Assets',
    assetsAndLiquidity: 'Assets and liquidity',
    sandbox: 'Sandbox liquidity',
    production: 'Production liquidity',
    noAssets: 'No assets yet.',
    noAssetsNext: 'Add one with the button above.',
    pair: (sell, buy) => `${sell} to ${buy}`,
  },
  find: {
    title: (text) => `Search: ${text}`,
    searching: 'Searching…',
    nothing: 'Nothing found.',
    nothingNext: 'Check the spelling, or search for another part of the name, an amount, a status, a reason or a date.',
    nothingSoFar: 'Nothing among the newest payments. An amount has no index: add a status or a month, or search on.',
    payments: (words) => `Payments: ${words}`,
    amount: (value) => `amount ${value}…`,
    asList: 'Open as a list',
    further: 'Search older payments in the list',
    searched: (places) => `Searched: ${places}.`,
    filtered: (words) => `payments with ${words}`,
    byId: 'payments by transaction ID, any other ID, account number, reference, hash or metadata (KEY=TEXT)',
    wallets: 'wallets by ID, account number, public key or part of the name',
    beneficiaries: 'beneficiaries by ID or beginnings of words',
  },
  commands: {
    run: 'Run',
    runOf: (command) => `Run ${command}`,
    part: 'Part of a name or description',
    intro: (role) => `Commands that the role ${role} may run. The command line has the same commands.`,
    filter: 'Filter',
  },
  checks: {
    intro: 'Integrity of the ledger and of the backups.',
    verify: 'Verify the file',
    verifyNow: 'Verify now',
    verifyText:
      'Checks every invariant of the ledger: sums, balances and hash chains. ' +
      'The full check, which includes the structure of the file, is under All commands.',
    backUp: 'Back up',
    backUpNow: 'Back up now',
    backups: 'Backups',
    age: 'Age',
    size: 'Size',
    noBackups: 'No backups in the folder yet.',
    noBackupsNext: 'Create one with Back up now.',
    backUpText: 'Backs up the database while payments continue, and verifies the backup.',
    signatureText:
      'To restore a downloaded backup, keep its signature file next to it. Without it, coffer restore needs ' +
      '--unsigned.',
    faults: 'The check found errors. They are listed below.',
    noFaults: 'No errors found.',
    working: 'Working…',
    machine: 'On the server',
    machineText: [
      ['coffer doctor', ' examines settings, disk, clock, name resolution and ports. '],
      ['coffer restore', ' creates a database from a backup. '],
      ['coffer key rotate', ' changes the master key. Run these on the command line of the server.'],
    ],
  },
};
