/** Ways of payment against their contract, and the register against a provider that fails, is slow, and loses answers. */
import test, { type ExecutionContext } from '#test'
import { InvoiceRegister } from '#core/billing/closing/invoice-register.ts'
import { manualPayment } from '#core/billing/payment/manual.ts'
import type { PaymentPort } from '#core/billing/payment/payment-port.ts'
import { paymentContract } from '../../contracts/payment-contract.ts'
import { coreFixture, organizationId, type CoreFixture } from '../core-fixture.ts'
import { PaymentProvider } from './payment-provider.ts'

// customers pay as the invoice says, as long as it is not void: there is nothing that could be expected twice
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

/** A register whose invoices are paid through a provider, with one invoice that nothing was told of yet. */
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

test('an invoice is asked for once, whatever answers are lost and wherever the process ends', async (t) => {
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
  await cut.promise // asked, and not noted
  const next = await fixture.crash()
  await registerOf(next).askForPayment(never)
  t.is(provider.demands.get(id)?.letters, 1)
  t.like((await registerOf(next).get(undefined, id)).payment, { state: 'open', reference: 'pay_1' })
  provider.pay(id)
  await registerOf(next).askForPayment(never)
  t.is(seen(), 'paid')
})

/** The way of payment of a daemon that ends while it waits: the provider gets its call, and nothing comes back. */
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
  test(`a call that says ${late} has not the last word where its daemon ended and another said ${meanwhile} before it was carried out`, async (t) => {
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
    t.not(seen(), wanted, 'the provider did as it was told')
    for (let round = 0; round < 2; round++) {
      fixture.clock.advance(3_600_000)
      await register.askForPayment(never)
    }
    t.is(seen(), meanwhile === 'open' ? 'open' : 'withdrawn')
    t.is((await register.get(undefined, id)).payment?.askedAt, fixture.clock.now() - 3_600_000, 'and it is not told for ever')
    await fixture.assertSound(t)
  })

test('what is void or paid by hand is not expected any more, also where the provider was away, or was just being asked', async (t) => {
  const { fixture, provider, registerOf, id, seen, never } = await billed(t)
  const register = registerOf(fixture)
  await register.mark(id, 'paid', 'in cash')
  await register.askForPayment(never)
  t.is(seen(), undefined, 'what is paid was never asked for')
  await register.mark(id, 'open', 'it was another one')
  t.is(seen(), 'open')
  provider.isAway = true
  await register.mark(id, 'uncollectible', 'bankrupt')
  t.is(seen(), 'open', 'the mark stands, and the provider is told later')
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
  await registerOf(fixture).void(id, 'wrong plan', false) // by another daemon, while this one asks
  t.is(seen(), 'withdrawn')
  held.resolve()
  await marking
  t.is(seen(), 'withdrawn', 'the last word counts')
  t.is((await register.get(undefined, id)).payment?.state, 'void')
  await fixture.assertSound(t)
})
