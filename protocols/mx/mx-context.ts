/** What the listeners and sessions of one MX server share. */
import type { Recipient } from '#core/inbound/inbound-door.ts'
import type { InspectRecipient } from '#core/inspect/inspect-tests.ts'
import type { SMTPServerAddress } from 'smtp-server'
import type { LiveRoute } from '#core/inbound-routes/route-intake.ts'
import { ReceptionContext } from '../reception/reception-context.ts'
import type { MxEvents, MxOptions } from './mx-settings.ts'

export class MxContext extends ReceptionContext<MxEvents> {
  readonly door: MxOptions['door']
  readonly readReport: MxOptions['readReport']
  readonly postmaster: MxOptions['postmaster']
  readonly hostname: string
  /** What was found at RCPT, for the rest of the transaction. */
  readonly recipients = new WeakMap<SMTPServerAddress, Recipient>()

  constructor(options: MxOptions) {
    super(options)
    this.door = options.door
    this.readReport = options.readReport
    this.postmaster = options.postmaster
    this.hostname = options.hostname
  }
}

/** The route that takes mail for a recipient; undefined when another kind of recipient does. */
export function routeOf({ recipients }: MxContext, path: SMTPServerAddress): LiveRoute | undefined {
  const recipient = recipients.get(path)
  return recipient?.kind === 'route' ? recipient.route : undefined
}

/** The deliverability test that takes mail for a recipient; undefined when another kind of recipient does. */
export function testOf({ recipients }: MxContext, path: SMTPServerAddress): InspectRecipient | undefined {
  const recipient = recipients.get(path)
  return recipient?.kind === 'inspect' ? recipient.test : undefined
}
