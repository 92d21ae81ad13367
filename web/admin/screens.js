// Every screen by its address, and the menu.
import { accountScreen } from './account.js';
import { checksScreen, commandsScreen } from './commands.js';
import {
  applicationScreen,
  applicationsScreen,
  associationScreen,
  associationsScreen,
  notificationsScreen,
  usersScreen,
} from './tenants.js';
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
import { eventScreen, eventsScreen, webhookScreen, webhooksScreen } from './webhooks.js';
import { ratesScreen } from './market.js';
import { auditScreen, operatorsScreen } from './operators.js';
import { overviewScreen } from './overview.js';
import { paymentScreen, paymentsScreen } from './payments.js';

/** `show` draws the screen, `one` the page about one thing of it. */
const screen = (noun, title, show, one) => ({ noun, title, show, one });

export const MENU = [
  {
    group: 'Now',
    screens: [
      screen('overview', 'Overview', overviewScreen),
      screen('reviews', 'KYC review', reviewsScreen),
      screen('payments', 'Payments', paymentsScreen, paymentScreen),
      screen('webhooks', 'Webhooks', webhooksScreen, webhookScreen),
      screen('events', 'Events', eventsScreen, eventScreen),
      screen('notifications', 'Notifications', notificationsScreen),
    ],
  },
  {
    group: 'Money',
    screens: [
      screen('wallets', 'Wallets', walletsScreen, walletScreen),
      screen('statements', 'Statements', statementsScreen),
      screen('beneficiaries', 'Beneficiaries', beneficiariesScreen, beneficiaryScreen),
    ],
  },
  {
    group: 'Market',
    screens: [
      screen('connectors', 'Connectors', connectorsScreen, connectorScreen),
      screen('quotes', 'Quotes', quotesScreen),
      screen('fees', 'Fees', feesScreen),
      screen('rates', 'Rates and liquidity', ratesScreen),
    ],
  },
  {
    group: 'Access',
    screens: [
      screen('associations', 'Associations', associationsScreen, associationScreen),
      screen('applications', 'Applications', applicationsScreen, applicationScreen),
      screen('users', 'Users', usersScreen),
      screen('operators', 'Operators', operatorsScreen),
      screen('audit', 'Audit log', auditScreen),
    ],
  },
  {
    group: 'This box',
    screens: [
      screen('checks', 'Checks and data', checksScreen),
      screen('commands', 'All commands', commandsScreen),
      screen('account', 'My account', accountScreen),
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
      h('p', {}, 'This page does not exist. ', h('a', { href: '#/overview' }, 'To the overview')),
    ),
};

export function screenAt(parts) {
  const found = [...MENU.flatMap((each) => each.screens), ...HIDDEN].find((each) => each.noun === parts[0]);
  if (!found || (parts.length > 1 && !found.one)) return nowhere;
  const show = parts.length > 1 ? found.one : found.show;
  return { menu: found.noun, title: found.title, show };
}
