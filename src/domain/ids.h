// One ID type per noun, so a WalletId cannot be passed as a PaymentId.
#pragma once

#include "base/uuid.h"

namespace coffer {

using AssociationId = Id<struct AssociationTag>;
using ApplicationId = Id<struct ApplicationTag>;
using UserId = Id<struct UserTag>;
using OperatorId = Id<struct OperatorTag>;
using ApprovalId = Id<struct ApprovalTag>;
using WalletId = Id<struct WalletTag>;
using PaymentId = Id<struct PaymentTag>;  // the transaction record ID of the contract
using EventId = Id<struct EventTag>;
using WebhookId = Id<struct WebhookTag>;
using BeneficiaryId = Id<struct BeneficiaryTag>;
using DestinationId = Id<struct DestinationTag>;
using ConnectorId = Id<struct ConnectorTag>;
using QuoteId = Id<struct QuoteTag>;
using RefundId = Id<struct RefundTag>;      // the ID of a refund at a provider
using ArrivalId = Id<struct ArrivalTag>;    // an unassigned arrival
using BankLineId = Id<struct BankLineTag>;  // a line of a statement

}  // namespace coffer
