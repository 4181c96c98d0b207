/** State shared by the listeners and sessions of an MX server. */
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
  /** Recipients found at RCPT, for later steps of the transaction. */
  readonly recipients = new WeakMap<SMTPServerAddress, Recipient>()

  constructor(options: MxOptions) {
    super(options)
    this.door = options.door
    this.readReport = options.readReport
    this.postmaster = options.postmaster
    this.hostname = options.hostname
  }
}

/** Returns the inbound route of a recipient; undefined for other kinds of recipients. */
export function routeOf({ recipients }: MxContext, path: SMTPServerAddress): LiveRoute | undefined {
  const recipient = recipients.get(path)
  return recipient?.kind === 'route' ? recipient.route : undefined
}

/** Returns the deliverability test of a recipient; undefined for other kinds of recipients. */
export function testOf({ recipients }: MxContext, path: SMTPServerAddress): InspectRecipient | undefined {
  const recipient = recipients.get(path)
  return recipient?.kind === 'inspect' ? recipient.test : undefined
}
