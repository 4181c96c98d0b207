/** The real thread answers every hostile message and the message after it. */
import test from '#test'
import { messageInMemory } from '#core/capture/reading/message-reader.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import { hostileMail } from './hostile-mail.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const still = 'The raw message is still available.'
const shared = new WorkerMessageReader(new FakeClock())
test.after.always(() => shared[Symbol.asyncDispose]())

for (const [name, make, expected] of hostileMail) {
  test.serial(`read() survives ${name}`, async (t) => {
    const result = await shared.read(messageInMemory('org_1', make()))
    if (expected === undefined) t.true(result.ok, JSON.stringify(result).slice(0, 200))
    else t.like(result, { ok: false, unreadable: `${expected} ${still}` })
    const next = await shared.read(messageInMemory('org_1', Buffer.from('Subject: next\r\n\r\nx')))
    t.true(next.ok && next.message.subject === 'next')
  })
}
