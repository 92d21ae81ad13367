// One id type per noun: a WalletId cannot be passed where a PaymentId is wanted.
#pragma once

#include "base/uuid.h"

namespace coffer {

using AssociationId = Id<struct AssociationTag>;
using ApplicationId = Id<struct ApplicationTag>;
using UserId = Id<struct UserTag>;
using OperatorId = Id<struct OperatorTag>;
using WalletId = Id<struct WalletTag>;
using PaymentId = Id<struct PaymentTag>;  // the transaction record id of the contract
using EventId = Id<struct EventTag>;
using WebhookId = Id<struct WebhookTag>;
using BeneficiaryId = Id<struct BeneficiaryTag>;
using DestinationId = Id<struct DestinationTag>;
using ConnectorId = Id<struct ConnectorTag>;
using QuoteId = Id<struct QuoteTag>;

}  // namespace coffer
