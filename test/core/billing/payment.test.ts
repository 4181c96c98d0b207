/** Payment ports against their contract, and the register against a provider that fails, is slow, and loses answers. */
import test, { type ExecutionContext } from '#test'
import { InvoiceRegister } from '#core/billing/closing/invoice-register.ts'
import { manualPayment } from '#core/billing/payment/manual.ts'
import type { PaymentPort } from '#core/billing/payment/payment-port.ts'
import { paymentContract } from '../../contracts/payment-contract.ts'
import { coreFixture, organizationId, type CoreFixture } from '../core-fixture.ts'
import { PaymentProvider } from './payment-provider.ts'

// With manual payment, the invoice itself is the payment request. A repeated ask() cannot create a second request.
paymentContract(test, 'manual payment', async () => {
  const asSaid = new Set<string>()
  const port = (): PaymentPort => ({
    name: manualPayment.name,
    ask(invoice) {
      asSaid.add(invoice.id)
      return manualPayment.ask(invoice)
    },
    withdraw(invoice) {
      asSaid.delete(invoice.id)
      return manualPayment.withdraw(invoice)
    },
  })
  return { port, expected: async ({ id }) => Number(asSaid.has(id)) }
})

paymentContract(test, 'payment through a provider', async (t) => {
  const provider = await PaymentProvider.start(t)
  return {
    port: () => provider.port(),
    expected: async ({ id }) => Number(provider.demands.get(id)?.state === 'open'),
    pay: async ({ id }) => provider.pay(id),
    fail(how, isFailing) {
      if (how === 'before') provider.isAway = isFailing
      else provider.losesAnswers = isFailing ? 1 : 0
    },
  }
})

/** Returns a register with a payment provider, and an invoice that the provider does not know yet. */
async function billed(t: ExecutionContext) {
  const fixture = await coreFixture(t, { deaf: true })
  const provider = await PaymentProvider.start(t)
  fixture.clock.step(Date.UTC(2030, 2, 1) - fixture.clock.now())
  await fixture.organization({ plan: 'pro', createdAt: fixture.clock.now() })
  fixture.clock.step(31 * 86_400_000)
  const registerOf = ({ context }: CoreFixture) => new InvoiceRegister({ ...context, port: provider.port() })
  provider.isAway = true
  const { closing, register: own } = fixture.part('billing')
  own.askForPayment = async () => {}
  await closing.close('2030-03')
  provider.isAway = false
  const { rows } = await own.list(organizationId, { limit: 10 })
  const id = rows[0]?.document.id ?? ''
  const seen = () => provider.demands.get(id)?.state
  return { fixture, provider, registerOf, id, seen, never: () => false }
}

test('a payment is requested once despite lost answers and crashes at any time', async (t) => {
  const { fixture, provider, registerOf, id, seen, never } = await billed(t)
  provider.losesAnswers = 1
  await t.throwsAsync(registerOf(fixture).askForPayment(never))
  t.is(seen(), 'open')
  const cut = Promise.withResolvers<void>()
  fixture.kv.beforeWrite = () => {
    void fixture.kv.cut()
    cut.resolve()
  }
  void registerOf(fixture).askForPayment(never)
  await cut.promise // requested, but not recorded
  const next = await fixture.crash()
  await registerOf(next).askForPayment(never)
  t.is(provider.demands.get(id)?.letters, 1)
  t.like((await registerOf(next).get(undefined, id)).payment, { state: 'open', reference: 'pay_1' })
  provider.pay(id)
  await registerOf(next).askForPayment(never)
  t.is(seen(), 'paid')
})

/** Returns the payment port of a daemon that ends during the call: the provider gets the call, and no answer returns. */
function portOfEnded(provider: PaymentProvider) {
  const called = Promise.withResolvers<{ readonly call: Promise<unknown> }>()
  const lose = (call: Promise<unknown>): Promise<never> => {
    called.resolve({ call })
    return Promise.withResolvers<never>().promise
  }
  const { name, ask, withdraw } = provider.port()
  const port: PaymentPort = { name, ask: (invoice) => lose(ask(invoice)), withdraw: (invoice) => lose(withdraw(invoice)) }
  return { port, called: called.promise }
}

for (const [late, meanwhile, method] of [
  ['open', 'uncollectible', 'PUT'],
  ['uncollectible', 'open', 'DELETE'],
] as const)
  test(`a delayed ${late} of an ended daemon does not override a later ${meanwhile}`, async (t) => {
    const { fixture, provider, registerOf, id, seen, never } = await billed(t)
    const register = registerOf(fixture)
    await register.mark(id, meanwhile, 'as it is')
    const [arrived, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    provider.onCall = async (is) => {
      if (is !== method) return
      provider.onCall = undefined
      arrived.resolve()
      await held.promise
    }
    const { port, called } = portOfEnded(provider)
    void new InvoiceRegister({ ...fixture.context, port }).mark(id, late, 'by a daemon that ends')
    await arrived.promise
    await register.mark(id, meanwhile, 'by another one')
    const wanted = meanwhile === 'open' ? 'open' : undefined
    t.is(seen(), wanted)
    held.resolve()
    await (
      await called
    ).call
    t.not(seen(), wanted, 'the provider executed it')
    for (let round = 0; round < 2; round++) {
      fixture.clock.advance(3_600_000)
      await register.askForPayment(never)
    }
    t.is(seen(), meanwhile === 'open' ? 'open' : 'withdrawn')
    t.is((await register.get(undefined, id)).payment?.askedAt, fixture.clock.now() - 3_600_000, 'and it is not repeated forever')
    await fixture.assertSound(t)
  })

test('payment: a void or manually paid invoice ends its request, also after an outage', async (t) => {
  const { fixture, provider, registerOf, id, seen, never } = await billed(t)
  const register = registerOf(fixture)
  await register.mark(id, 'paid', 'in cash')
  await register.askForPayment(never)
  t.is(seen(), undefined, 'a paid invoice was never requested')
  await register.mark(id, 'open', 'it was another one')
  t.is(seen(), 'open')
  provider.isAway = true
  await register.mark(id, 'uncollectible', 'bankrupt')
  t.is(seen(), 'open', 'the mark stays, and the provider is notified later')
  provider.isAway = false
  await register.askForPayment(never)
  t.is(seen(), 'withdrawn')

  const asking = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  await register.mark(id, 'uncollectible', 'again')
  provider.onCall = async (method) => {
    if (method !== 'PUT') return
    provider.onCall = undefined
    asking.resolve()
    await held.promise
  }
  const marking = register.mark(id, 'open', 'they pay after all')
  await asking.promise
  await registerOf(fixture).void(id, 'wrong plan', false) // Another daemon voids it during the request.
  t.is(seen(), 'withdrawn')
  held.resolve()
  await marking
  t.is(seen(), 'withdrawn', 'the latest call counts')
  t.is((await register.get(undefined, id)).payment?.state, 'void')
  await fixture.assertSound(t)
})
