/** The webhook of a hosted form that accepts no submission, from the visitor to the finding. */
import test from '#test'
import { formFixture } from '../../admin-api/rest/forms/visitor.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'

const minute = 60_000

test('form.notification_failing: a form whose webhook answers 500, until it accepts a submission', async (t) => {
  const receiver = await receiverOf(t, { answer: (response) => response.writeHead(500).end() })
  const { rest, path, form, send, daemon } = await formFixture(t)
  await rest.must('PUT', `${path}/notifications`, { from: 'forms@example.ch', webhook_url: receiver.url })
  await daemon.part('watch').start()
  t.teardown(() => daemon.part('watch').stop())
  const open = async (): Promise<readonly unknown[]> => {
    const { data } = (await rest.must('GET', '/v1/findings')) as { readonly data: readonly Record<string, unknown>[] }
    return data.filter(({ kind }) => kind === 'form.notification_failing').map(({ subject, summary }) => [subject, summary])
  }
  t.is((await send({ email: 'ada@example.ch', message: 'Hello.' })).status, 201)
  await daemon.pass(7 * minute)
  t.true(receiver.received.length >= 3)
  t.deepEqual(await open(), [], 'three attempts within a quarter of an hour')
  await daemon.pass(10 * minute)
  t.like(await open(), { length: 1, 0: { 0: `${form}/webhook` } })
  t.regex(String(await open()), /answers 500/)
  receiver.answer = (response) => response.writeHead(204).end()
  await send({ email: 'ada@example.ch', message: 'Again.' })
  await daemon.pass(minute)
  t.deepEqual(await open(), [])
})
