import test from '#test'
import { transportContract } from '../../contracts/transport-contract.ts'
import { targetOf, testTransport } from './relay-fixture.ts'
import { freePort } from '../../support/daemon/workspace.ts'
import type { SinkAnswer, SinkStep } from '../../support/smtp/sink-script.ts'
import { Sink } from '../../support/smtp/sink.ts'
import type { PeerMood } from '../../contracts/transport-contract.ts'

const scripts: Readonly<Partial<Record<PeerMood, readonly [SinkStep, SinkAnswer]>>> = {
  defer: ['rcpt', '451 4.7.1 Later'],
  refuse: ['dot', '554 5.7.1 Never'],
  'lose-after-handover': ['dot', { act: 'drop' }],
  'hold-before-content': ['data', { act: 'hold' }],
}

for (const offers of [['PIPELINING'], []]) {
  transportContract(test, offers[0] ?? 'plain', async (t) => {
    const open = async (port: number): Promise<Sink> => {
      const made = await new Sink({ offers }).listen(port)
      t.teardown(() => made[Symbol.asyncDispose]())
      return made
    }
    let sink = await open(await freePort())
    const target = targetOf(sink)
    return {
      transport: testTransport(t),
      target,
      forbidden: { ...target, host: '127.0.0.2' },
      async be(mood) {
        if (mood === 'not-there') return sink[Symbol.asyncDispose]()
        if (mood === 'accept') sink = await open(target.port)
        const [step, answer] = scripts[mood] ?? []
        sink.script = (name) => (name === step ? answer : undefined)
      },
      received: () => sink.deliveries.map(({ text }) => text),
      held: () => sink.reached('data'),
      contacts: () => sink.connections.length,
    }
  })
}
