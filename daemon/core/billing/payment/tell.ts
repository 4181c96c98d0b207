/**
 * Tells the way of payment of the state that an invoice has, so that its last word is that state: whoever is interrupted, and however many
 * daemons tell at the same time. Each notes its call before it makes it. A call whose end is not noted may still be carried out by the
 * provider; while that can be, whoever tells of the contrary does not count it as told, and the background tells it again.
 */
import type { Core } from '../../core.ts'
import { transact } from '../../writes/transact.ts'
import { invoiceDocuments, invoicePartition, type InvoiceDocument } from '../closing/invoice-document.ts'
import { invoicePayments, type InvoicePayment, type PaymentCall } from './payment.ts'
import type { PaymentPort } from './payment-port.ts'

export interface TellOptions extends Pick<Core, 'database' | 'clock'> {
  readonly port: PaymentPort
}

/** So long after its beginning a call may still be carried out. See `PaymentPort`. */
const callMs = 10 * 60_000
const reach = { organizationId: invoicePartition }

interface Begun {
  readonly document: InvoiceDocument
  readonly state: InvoicePayment['state']
  readonly call: PaymentCall
}

/** Rejects as the port does. */
export async function tellPayment(options: TellOptions, id: string): Promise<void> {
  const { port } = options
  for (let isDone = false; !isDone;) {
    const begun = await begin(options, id)
    if (!begun) return
    const asked = begun.call.tells === 'ask' ? await port.ask(begun.document) : undefined
    if (!asked) await port.withdraw(begun.document)
    isDone = await end(options, begun, asked)
  }
}

/** Notes the call; undefined where there is nothing to tell. */
async function begin({ database, clock }: TellOptions, id: string): Promise<Begun | undefined> {
  const document = (await database.get(invoiceDocuments, reach, id))?.record
  if (!document) return undefined
  return transact(database, reach, async (change) => {
    const stored = await change.get(invoicePayments, id)
    if (!stored || stored.record.askedAt !== null) return undefined
    const { state } = stored.record
    const now = clock.now()
    const call: PaymentCall = { id: database.newId('pyc', now), tells: state === 'open' ? 'ask' : 'withdraw', until: now + callMs }
    const calls = [...inFlight(stored.record, now), call]
    change.replace(invoicePayments, invoicePartition, stored, { ...stored.record, calls })
    return { document, state, call }
  })
}

/** False when the state has changed meanwhile, and is to be told at once. */
function end({ database, clock }: TellOptions, { document, state, call }: Begun, asked: object | undefined): Promise<boolean> {
  return transact(database, reach, async (change) => {
    const stored = await change.get(invoicePayments, document.id)
    if (!stored) return true
    const now = clock.now()
    const calls = inFlight(stored.record, now).filter(({ id }) => id !== call.id)
    const isSame = stored.record.state === state
    const isContradicted = calls.some(({ tells }) => tells !== call.tells)
    const askedAt = isSame && !isContradicted ? (stored.record.askedAt ?? now) : null
    change.replace(invoicePayments, invoicePartition, stored, { ...stored.record, ...(isSame && asked), calls, askedAt })
    return isSame
  })
}

const inFlight = ({ calls = [] }: InvoicePayment, now: number): readonly PaymentCall[] => calls.filter(({ until }) => until > now)
