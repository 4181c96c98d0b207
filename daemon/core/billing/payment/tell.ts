/**
 * Synchronizes the payment provider with the state of an invoice, through `PaymentPort`. The last executed call of the port must match that
 * state, despite crashes and concurrent daemons. Each call is recorded first. A recorded call without result can still be
 * executed by the provider. While an opposite call is recorded, the synchronization does not count as done, and the background work repeats
 * it.
 */
import type { Core } from '../../core.ts'
import { transact } from '../../writes/transact.ts'
import { invoiceDocuments, invoicePartition, type InvoiceDocument } from '../closing/invoice-document.ts'
import { invoicePayments, type InvoicePayment, type PaymentCall } from './payment.ts'
import type { PaymentPort } from './payment-port.ts'

export interface TellOptions extends Pick<Core, 'database' | 'clock'> {
  readonly port: PaymentPort
}

/** Time for which a recorded call can be in flight: the limit of `PaymentPort` with a margin. */
const callMs = 10 * 60_000
const reach = { organizationId: invoicePartition }

interface Begun {
  readonly document: InvoiceDocument
  readonly state: InvoicePayment['state']
  readonly call: PaymentCall
}

/** Requests or withdraws the payment, depending on the state of the invoice. Rejects like the port. */
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

/** Records that a call begins, and returns it. Returns undefined if the last call matches the state of the invoice already. */
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

/** Records the result. Returns false if the state changed during the call, so that the port must be called again. */
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
