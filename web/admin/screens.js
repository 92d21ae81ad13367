// All screens by address, and the menu.
import { accountScreen } from './account.js';
import { alertsScreen } from './alerts.js';
import { approvalScreen, approvalsScreen } from './approvals.js';
import { checksScreen, commandsScreen, sandboxScreen } from './commands.js';
import {
  applicationScreen,
  applicationsScreen,
  associationScreen,
  associationsScreen,
  notificationsScreen,
  usersScreen,
} from './tenants.js';
import { beneficiariesScreen, beneficiaryScreen, walletScreen, walletsScreen } from './wallets.js';
import { reviewsScreen } from './reviews.js';
import { statementsScreen } from './statements.js';
import { connectorScreen, connectorsScreen, feesScreen, quotesScreen } from './connectors.js';
import { h, replace } from './dom.js';
import { findScreen } from './find.js';
import { eventScreen, eventsScreen, webhookScreen, webhooksScreen } from './webhooks.js';
import { ratesScreen } from './market.js';
import { auditScreen, operatorsScreen, tokensScreen } from './operators.js';
import { overviewScreen } from './overview.js';
import { S } from './strings.js';
import { requestScreen, requestsScreen } from './requests.js';
import { changesScreen } from './checklist.js';
import { paymentScreen, paymentsScreen } from './payment.js';
import { can } from './wire.js';

/** `show` draws the screen, and `one` the page of a single object. Without the command `needs`, there is no screen. */
const screen = (noun, title, show, one, needs) => ({ noun, title, show, one, needs });

const MENU = [
  {
    group: S.menu.groups.now,
    screens: [
      screen('overview', S.menu.overview, overviewScreen),
      screen('reviews', S.menu.reviews, reviewsScreen),
      screen('approvals', S.menu.approvals, approvalsScreen, approvalScreen),
      screen('payments', S.menu.payments, paymentsScreen, paymentScreen),
      screen('webhooks', S.menu.webhooks, webhooksScreen, webhookScreen),
      screen('events', S.menu.events, eventsScreen, eventScreen),
      screen('requests', S.menu.requests, requestsScreen, requestScreen),
      screen('notifications', S.menu.notifications, notificationsScreen),
      screen('alerts', S.menu.alerts, alertsScreen),
    ],
  },
  {
    group: S.menu.groups.money,
    screens: [
      screen('wallets', S.menu.wallets, walletsScreen, walletScreen),
      screen('statements', S.menu.statements, statementsScreen),
      screen('beneficiaries', S.menu.beneficiaries, beneficiariesScreen, beneficiaryScreen),
    ],
  },
  {
    group: S.menu.groups.market,
    screens: [
      screen('connectors', S.menu.connectors, connectorsScreen, connectorScreen),
      screen('quotes', S.menu.quotes, quotesScreen),
      screen('fees', S.menu.fees, feesScreen),
      screen('rates', S.menu.rates, ratesScreen),
    ],
  },
  {
    group: S.menu.groups.access,
    screens: [
      screen('associations', S.menu.associations, associationsScreen, associationScreen),
      screen('applications', S.menu.applications, applicationsScreen, applicationScreen),
      screen('users', S.menu.users, usersScreen),
      screen('operators', S.menu.operators, operatorsScreen),
      screen('tokens', S.menu.tokens, tokensScreen, undefined, 'operator token list'),
      screen('audit', S.menu.audit, auditScreen),
    ],
  },
  {
    group: S.menu.groups.system,
    screens: [
      screen('checks', S.menu.checks, checksScreen),
      screen('sandbox', S.menu.sandbox, sandboxScreen, undefined, 'sandbox clock'),
      screen('commands', S.menu.commands, commandsScreen),
      screen('account', S.menu.account, accountScreen),
    ],
  },
];

/** The screens that this server offers the operator, by group. */
export const menu = () =>
  MENU.map(({ group, screens }) => ({ group, screens: screens.filter(({ needs }) => !needs || can(needs)) }));

const HIDDEN = [screen('find', S.menu.find, findScreen), screen('changes', S.changes.title, changesScreen)];

const nowhere = {
  title: S.app.notFound,
  show: (context) =>
    replace(
      context.main,
      h('h1', {}, S.app.notFound),
      h('p', {}, S.app.notFoundText, h('a', { href: '#/overview' }, S.app.toOverview)),
    ),
};

export function screenAt(parts) {
  const found = [...menu().flatMap((each) => each.screens), ...HIDDEN].find((each) => each.noun === parts[0]);
  if (!found || (parts.length > 1 && !found.one)) return nowhere;
  const show = parts.length > 1 ? found.one : found.show;
  return { menu: found.noun, title: found.title, show };
}
