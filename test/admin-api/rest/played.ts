/** What the outside does as a test tells it: providers that are probed, names, and records in DNS. */
import { once } from 'node:events'
import type { AttemptReport, DeliveryJob, ProbeStep, Transport, TransportTarget } from '#core/delivery/transport.ts'
import { ResolveError, type MailExchange, type RecordResolver, type Resolver } from '#core/outbound/resolver.ts'

/** Providers that answer a probe, and what they were asked with. */
export class PlayedTransport implements Transport {
  readonly probed: TransportTarget[] = []
  readonly #released = Promise.withResolvers<void>()
  steps: readonly ProbeStep[] = [{ step: 'auth', ok: true, detail: 'The login was accepted.', milliseconds: 3.4 }]

  /** Nothing is delivered: an attempt waits until it is called off. */
  async deliver(_target: TransportTarget, { rcptTo, signal }: DeliveryJob): Promise<AttemptReport> {
    await Promise.race([once(signal, 'abort'), this.#released.promise])
    const recipients = rcptTo.map((address) => ({ address, verdict: 'transient' as const, reply: undefined }))
    return {
      recipients,
      host: '',
      port: 0,
      reused: false,
      error: { code: 'aborted', message: 'Called off.', phase: 'connect' },
      milliseconds: {},
    }
  }

  /** Ends all attempts, as the test ends. */
  release(): void {
    this.#released.resolve()
  }

  async probe(target: TransportTarget): Promise<readonly ProbeStep[]> {
    this.probed.push(target)
    return this.steps
  }

  forget(): void {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

const names: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'mail.example.ch': ['8.8.8.8'],
  'inside.example.ch': ['10.0.0.5'],
  'mixed.example.ch': ['10.0.0.5', '8.8.4.4'],
}

/** Names that stay, and the records that DNS holds as a test tells it; an Error in place of records is thrown. */
export class PlayedNames implements Resolver, RecordResolver {
  readonly txt = new Map<string, readonly string[] | Error>()
  readonly mx = new Map<string, readonly MailExchange[]>()

  async resolve4(name: string): Promise<readonly string[]> {
    if (name === 'broken.example.ch') throw new ResolveError('timeout', 'nobody answered')
    return names[name] ?? []
  }

  async resolve6(): Promise<readonly string[]> {
    return []
  }

  async resolveTxt(name: string): Promise<readonly string[]> {
    const found = this.txt.get(name) ?? []
    if (found instanceof Error) throw found
    return found
  }

  async resolveMx(name: string): Promise<readonly MailExchange[]> {
    return this.mx.get(name) ?? []
  }
}
