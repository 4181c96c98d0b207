/** The contract of all transports for HTTP. TLS and sockets are real, the vendor is a fake. */
import test from '#test'
import type { HttpTarget } from '#core/delivery/transport.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import { HttpTransport } from '../../../../protocols/relay/http/http-transport.ts'
import { transportContract, type PeerMood } from '../../../contracts/transport-contract.ts'
import { Front } from '../../../support/network/front.ts'
import { VendorDouble } from '../../../support/vendors/double.ts'
import { mailgunRules } from '../../../support/vendors/mailgun-double.ts'
import { authority } from '../certificates.ts'
import { testResolver } from '../relay-fixture.ts'

const moods = { defer: mailgunRules.refusals.transient, refuse: mailgunRules.refusals.permanent, 'lose-after-handover': 'drop' } as const

transportContract(test.serial, 'HTTP', async (t) => {
  const double = await new VendorDouble(mailgunRules).listen()
  const front = await Front.to(Number(new URL(double.origin).port))
  const transport = new HttpTransport({ resolver: testResolver, guard: addressGuard([{ cidr: '127.0.0.1/32' }]), trusted: [authority] })
  t.teardown(async () => {
    await transport[Symbol.asyncDispose]()
    await front[Symbol.asyncDispose]()
    await double[Symbol.asyncDispose]()
  })
  const target: HttpTarget = {
    provider: 'mailgun',
    ...{ destinationId: 'dst_1', revision: '1', maxConnections: 1, secrets: ['right-key-3'] },
    baseUrl: `https://localhost:${front.port}`,
    credentials: mailgunRules.credentials,
  }
  return {
    transport,
    target,
    forbidden: { ...target, baseUrl: `https://127.0.0.2:${front.port}` },
    async be(mood: PeerMood) {
      if (mood === 'not-there') return front.close()
      if (mood === 'accept') await front.open()
      if (mood === 'hold-before-content') front.silence()
      double.mood = mood in moods ? moods[mood as keyof typeof moods] : 'accept'
    },
    received: () => double.taken.map(({ mime }) => mime?.toString() ?? ''),
    held: () => front.reached(),
    contacts: () => front.accepted,
  }
})
