/** Composes alerts: the channels, their tests and confirmations, and the notifier. */
import { AlertNotifier } from '#core/alerts/notifier.ts'
import { ChannelBook } from '#core/alerts/channel-book.ts'
import { AlertChannels } from '#core/alerts/channels/channels.ts'
import { ChannelTests } from '#core/alerts/channels/channel-tests.ts'
import { operatorChannels } from '#core/alerts/channels/operator-channels.ts'
import { Confirmations } from '#core/alerts/channels/confirmations.ts'
import type { OperatorOptions } from '#core/billing/operator.ts'
import type { AlertParts } from '../composed.ts'
import { broke, guardOf, type Add, type Composition } from '../parts.ts'

export function addAlerts(add: Add): void {
  add('alertBook', ({ get, config }) => {
    const core = get('core')
    const { mailTo, webhookUrl: url, webhookSecret: secret } = config.doctor
    const webhook = url !== null && secret !== null ? { url, secret } : null
    return new ChannelBook({ ...core, operator: operatorChannels(core.secrets, { mailTo, webhook }) })
  })
  add('alerts', alertParts)
  add('alertNotifier', (composition) => {
    const { get, metrics } = composition
    const { mail, outbox } = get('people')
    return new AlertNotifier({
      ...{ ...get('core'), book: get('alertBook'), settle: get('settle'), mail, outbox },
      onAlert: (kind, result, delayMs) => metrics.alertWritten(kind, result, delayMs),
      onError: broke(composition, 'alerts'),
    })
  })
}

/** Lets channels look again after a write that turned alerts of an organization on or off. */
export const alertsSwitched = ({ get }: Pick<Composition, 'get'>): Pick<OperatorOptions, 'onAlertsSwitched'> => ({
  onAlertsSwitched: (change, organizationId) => get('alertBook').lookAgain(change, organizationId),
})

function alertParts(composition: Composition): AlertParts {
  const { get, config } = composition
  const { mail, outbox } = get('people')
  const parts = { ...get('core'), book: get('alertBook'), settle: get('settle'), mail, outbox }
  const alertConfirmations = new Confirmations(parts)
  const guard = guardOf(composition, config.outbound.allow.webhooks)
  const alertChannels = new AlertChannels({ ...parts, guard, resolver: get('resolver'), confirmations: alertConfirmations })
  const channelTests = new ChannelTests({ ...parts, channels: alertChannels, tests: get('webhooks').webhookTests })
  return { alertChannels, channelTests, alertConfirmations }
}
