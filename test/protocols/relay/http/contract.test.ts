/** The contract of all transports, for the one that speaks HTTP: TLS and sockets are real, the vendor is a double. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import test from '#test'
import type { HttpTarget } from '#core/delivery/transport.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import { HttpTransport } from '../../../../protocols/relay/http/http-transport.ts'
import { transportContract, type PeerMood } from '../../../contracts/transport-contract.ts'
import { freePort } from '../../../support/daemon/workspace.ts'
import { VendorDouble } from '../../../support/vendors/double.ts'
import { mailgunRules } from '../../../support/vendors/mailgun.ts'
import { authority } from '../certificates.ts'
import { testResolver } from '../relay-fixture.ts'

/** Stands before the double, and can take connections without a word. */
class Gate {
  contacts = 0
  holds = false
  readonly double: VendorDouble
  readonly sockets = new Set<Socket>()
  readonly #held = Promise.withResolvers<void>()
  #server: Server | undefined

  constructor(double: VendorDouble) {
    this.double = double
  }

  get held(): Promise<void> {
    return this.#held.promise
  }

  async open(port: number): Promise<number> {
    const server = createServer((socket) => {
      this.contacts++
      this.sockets.add(socket)
      socket.on('error', () => undefined)
      if (this.holds) this.#held.resolve()
      else this.double.serve(socket)
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    this.#server = server
    return (server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    await new Promise((resolve) => this.#server?.close(resolve))
  }
}

const moods = { defer: mailgunRules.refusals.transient, refuse: mailgunRules.refusals.permanent, 'lose-after-handover': 'drop' } as const

transportContract(test.serial, 'HTTP', async (t) => {
  const double = new VendorDouble(mailgunRules)
  const gate = new Gate(double)
  const port = await gate.open(await freePort())
  const transport = new HttpTransport({ resolver: testResolver, guard: addressGuard([{ cidr: '127.0.0.1/32' }]), trusted: [authority] })
  t.teardown(async () => {
    await transport[Symbol.asyncDispose]()
    await gate.close()
    await double[Symbol.asyncDispose]()
  })
  const target: HttpTarget = {
    provider: 'mailgun',
    ...{ destinationId: 'dst_1', revision: '1', maxConnections: 1, secrets: ['right-key-3'] },
    baseUrl: `https://localhost:${port}`,
    credentials: mailgunRules.credentials,
  }
  return {
    transport,
    target,
    forbidden: { ...target, baseUrl: `https://127.0.0.2:${port}` },
    async be(mood: PeerMood) {
      if (mood === 'not-there') return gate.close()
      if (mood === 'accept') await gate.open(port)
      gate.holds = mood === 'hold-before-content'
      double.mood = mood in moods ? moods[mood as keyof typeof moods] : 'accept'
    },
    received: () => double.taken.map(({ mime }) => mime?.toString() ?? ''),
    held: () => gate.held,
    contacts: () => gate.contacts,
  }
})
