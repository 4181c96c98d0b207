import test from '#test'
import { transportContract } from '../../contracts/transport-contract.ts'
import { targetOf, testSink, testTransport } from './relay-fixture.ts'
import { Front } from '../../support/network/front.ts'
import type { SinkAnswer, SinkStep } from '../../support/smtp/sink-script.ts'
import type { PeerMood } from '../../contracts/transport-contract.ts'

const scripts: Readonly<Partial<Record<PeerMood, readonly [SinkStep, SinkAnswer]>>> = {
  defer: ['rcpt', '451 4.7.1 Later'],
  refuse: ['dot', '554 5.7.1 Never'],
  'lose-after-handover': ['dot', { act: 'drop' }],
  'hold-before-content': ['data', { act: 'hold' }],
}

for (const offers of [['PIPELINING'], []]) {
  transportContract(test, offers[0] ?? 'plain', async (t) => {
    const sink = await testSink(t, { offers })
    const front = await Front.to(sink.port)
    t.teardown(() => front[Symbol.asyncDispose]())
    const target = targetOf(front)
    return {
      transport: testTransport(t),
      target,
      forbidden: { ...target, host: '127.0.0.2' },
      async be(mood) {
        if (mood === 'not-there') return front.close()
        if (mood === 'accept') await front.open()
        const [step, answer] = scripts[mood] ?? []
        sink.script = (name) => (name === step ? answer : undefined)
      },
      received: () => sink.deliveries.map(({ text }) => text),
      held: () => sink.reached('data'),
      contacts: () => sink.connections.length,
    }
  })
}
