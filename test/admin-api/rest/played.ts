/** What the outside does as a test tells it: providers that are probed, names, and records in DNS. */
import type { ProbeStep, Transport, TransportTarget } from '#core/delivery/transport.ts'
import { ResolveError, type MailExchange, type RecordResolver, type Resolver } from '#core/outbound/resolver.ts'

/** Providers that answer a probe, and what they were asked with. */
export class PlayedTransport implements Transport {
  readonly probed: TransportTarget[] = []
  steps: readonly ProbeStep[] = [{ step: 'auth', ok: true, detail: 'The login was accepted.', milliseconds: 3.4 }]

  deliver(): never {
    throw new Error('nothing is delivered in these tests')
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

export const playedResolver: Resolver = {
  async resolve4(name) {
    const found = names[name]
    if (name === 'broken.example.ch') throw new ResolveError('timeout', 'nobody answered')
    return found ?? []
  },
  resolve6: async () => [],
}

/** What DNS holds as a test tells it; an Error in place of records is thrown. */
export class PlayedRecords implements RecordResolver {
  readonly txt = new Map<string, readonly string[] | Error>()
  readonly mx = new Map<string, readonly MailExchange[]>()

  async resolveTxt(name: string): Promise<readonly string[]> {
    const found = this.txt.get(name) ?? []
    if (found instanceof Error) throw found
    return found
  }

  async resolveMx(name: string): Promise<readonly MailExchange[]> {
    return this.mx.get(name) ?? []
  }
}
