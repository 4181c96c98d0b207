/** A fake payment provider as an HTTP service with state, and a payment port that uses it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ExecutionContext } from 'ava'
import type { InvoiceDocument } from '#core/billing/closing/invoice-document.ts'
import type { Asked, PaymentPort } from '#core/billing/payment/payment-port.ts'
import { listenIn } from '../../support/web/listen.ts'

interface Demand {
  readonly reference: string
  readonly rappen: number
  state: 'open' | 'paid' | 'withdrawn'
  /** Number of mails to the customer. */
  letters: number
}

export class PaymentProvider {
  readonly demands = new Map<string, Demand>()
  /** The number of next calls that are executed without an answer. */
  losesAnswers = 0
  isAway = false
  /** Called before a call is executed, which it can delay. */
  onCall: ((method: string, id: string) => void | Promise<void>) | undefined
  #port = 0

  static async start(t: Pick<ExecutionContext, 'teardown'>): Promise<PaymentProvider> {
    const provider = new PaymentProvider()
    const server = createServer((req, res) => void provider.#serve(req, res))
    provider.#port = await listenIn(t, server)
    return provider
  }

  /** Pays the invoice as a customer. */
  pay(id: string): void {
    const demand = this.demands.get(id)
    if (demand?.state === 'open') demand.state = 'paid'
  }

  /** Returns a payment port of a daemon. The port has no state. */
  port(): PaymentPort {
    const call = async (method: string, { id, totalRappen }: InvoiceDocument): Promise<Asked> => {
      const answer = await fetch(`http://127.0.0.1:${this.#port}/${id}?rappen=${totalRappen}`, { method })
      if (!answer.ok) throw new Error(`the provider answered ${answer.status}`)
      return (await answer.json()) as Asked
    }
    return { name: 'provider', ask: (invoice) => call('PUT', invoice), withdraw: async (invoice) => void (await call('DELETE', invoice)) }
  }

  async #serve({ method = '', url = '' }: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(url, 'http://provider.test')
    const id = pathname.slice(1)
    await this.onCall?.(method, id)
    if (this.isAway) return void res.writeHead(503).end()
    const demand = method === 'PUT' ? this.#ask(id, Number(searchParams.get('rappen'))) : this.#withdraw(id)
    if (this.losesAnswers-- > 0) return void res.destroy()
    this.losesAnswers = 0
    const { state = 'open', reference = '' } = demand ?? {}
    res.end(JSON.stringify({ state: state === 'paid' ? 'paid' : 'open', reference }))
  }

  #ask(id: string, rappen: number): Demand {
    const known = this.demands.get(id)
    if (known && known.state !== 'withdrawn') return known
    const made: Demand = { reference: known?.reference ?? `pay_${this.demands.size + 1}`, rappen, state: 'open', letters: 1 }
    this.demands.set(id, { ...made, letters: (known?.letters ?? 0) + 1 })
    return made
  }

  #withdraw(id: string): Demand | undefined {
    const demand = this.demands.get(id)
    if (demand?.state === 'open') demand.state = 'withdrawn'
    return demand
  }
}
