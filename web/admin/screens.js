// Every screen by its address, and the menu.
import { accountScreen } from './account.js';
import { checksScreen, commandsScreen } from './commands.js';
import { associationsScreen, applicationsScreen, notificationsScreen, usersScreen } from './tenants.js';
import {
  beneficiariesScreen,
  beneficiaryScreen,
  reviewsScreen,
  statementsScreen,
  walletScreen,
  walletsScreen,
} from './wallets.js';
import { connectorScreen, connectorsScreen, feesScreen, quotesScreen } from './connectors.js';
import { h, replace } from './dom.js';
import { findScreen } from './find.js';
import { eventsScreen, webhooksScreen } from './webhooks.js';
import { ratesScreen } from './market.js';
import { auditScreen, operatorsScreen } from './operators.js';
import { overviewScreen } from './overview.js';
import { paymentScreen, paymentsScreen } from './payments.js';

/** `needs`: at least one of these commands; without it the screen is not in the menu. */
const screen = (noun, title, show, one, needs) => ({ noun, title, show, one, needs });

export const MENU = [
  {
    group: 'Now',
    screens: [
      screen('overview', 'Overview', overviewScreen, undefined, undefined),
      screen('reviews', 'KYC review', reviewsScreen, undefined, ['wallet list']),
      screen('payments', 'Payments', paymentsScreen, paymentScreen, undefined),
      screen('webhooks', 'Webhooks', webhooksScreen, undefined, undefined),
      screen('events', 'Events', eventsScreen, undefined, undefined),
      screen('notifications', 'Notifications', notificationsScreen, undefined, ['notification list']),
    ],
  },
  {
    group: 'Money',
    screens: [
      screen('wallets', 'Wallets', walletsScreen, walletScreen, ['wallet list']),
      screen('statements', 'Statements', statementsScreen, undefined, undefined),
      screen('beneficiaries', 'Beneficiaries', beneficiariesScreen, beneficiaryScreen, undefined),
    ],
  },
  {
    group: 'Market',
    screens: [
      screen('connectors', 'Connectors', connectorsScreen, connectorScreen, ['connector list']),
      screen('quotes', 'Quotes', quotesScreen, undefined, undefined),
      screen('fees', 'Fees', feesScreen, undefined, ['fee list']),
      screen('rates', 'Rates and liquidity', ratesScreen, undefined, ['rate list', 'asset list']),
    ],
  },
  {
    group: 'Access',
    screens: [
      screen('associations', 'Associations', associationsScreen, undefined, ['association list']),
      screen('applications', 'Applications', applicationsScreen, undefined, ['application list']),
      screen('users', 'Users', usersScreen, undefined, ['user list']),
      screen('operators', 'Operators', operatorsScreen, undefined, ['operator list']),
      screen('audit', 'Audit log', auditScreen, undefined, ['audit list']),
    ],
  },
  {
    group: 'This box',
    screens: [
      screen('checks', 'Checks and data', checksScreen, undefined, undefined),
      screen('commands', 'All commands', commandsScreen, undefined, undefined),
      screen('account', 'My account', accountScreen, undefined, undefined),
    ],
  },
];

const HIDDEN = [screen('find', 'Search', findScreen)];

const nowhere = {
  title: 'Not found',
  show: (context) =>
    replace(
      context.main,
      h('h1', {}, 'Not found'),
      h('p', {}, 'There is no such screen. ', h('a', { href: '#/overview' }, 'To the overview')),
    ),
};

export function screenAt(parts) {
  const found = [...MENU.flatMap((each) => each.screens), ...HIDDEN].find((each) => each.noun === parts[0]);
  if (!found || (parts.length > 1 && !found.one)) return nowhere;
  const show = parts.length > 1 ? found.one : found.show;
  return { menu: found.noun, title: found.title, needs: parts.length > 1 ? undefined : found.needs, show };
}
