/** Channels of the service itself, which the operator's settings define. Not stored. */
import type { SecretBox } from '../../access/secret-box.ts'
import { membersChannel, targetContext, type AlertChannel } from './alert-channel.ts'
import { noTarget, shownOf, type Target } from './channel-target.ts'

export interface OperatorTargets {
  /** Address for alert mail; null for no mail. */
  readonly mailTo: string | null
  readonly webhook: { readonly url: string; readonly secret: string } | null
}

/** Ids are permanent: findings and deliveries in the store refer to them. */
const ids = { mail: 'operator_mail', webhook: 'operator_alerts' } as const
/** Shown in the finding that the channel fails. */
const names = { mail: 'POSTERN_DOCTOR_MAIL_TO', webhook: 'POSTERN_DOCTOR_WEBHOOK_URL' } as const

/** Returns up to two channels. Each one has its own marks at findings. */
export function operatorChannels(secrets: Pick<SecretBox, 'seal'>, { mailTo, webhook }: OperatorTargets): readonly AlertChannel[] {
  return [
    ...(mailTo === null ? [] : [operatorChannel(secrets, 'mail', { ...noTarget, address: mailTo })]),
    ...(webhook === null ? [] : [operatorChannel(secrets, 'webhook', { ...noTarget, ...webhook })]),
  ]
}

function operatorChannel(secrets: Pick<SecretBox, 'seal'>, kind: 'mail' | 'webhook', target: Target): AlertChannel {
  const id = ids[kind]
  const sealedTarget = secrets.seal(JSON.stringify(target), targetContext(id))
  return { ...membersChannel, ...{ id, kind, name: names[kind], sealedTarget, shown: shownOf(kind, target), confirmedAt: 0 } }
}
