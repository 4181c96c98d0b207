/** A stopped process or a frozen machine: clients do not pay for the missing time. */
import test from '#test'
import * as z from 'zod'
import { operation } from '../../../admin-api/operation/operation.ts'
import { call, startDemo } from '../http/demo-api.ts'

test('deadline: time while the process is stopped (SIGSTOP) does not count', async (t) => {
  const begun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = operation({
    method: 'GET',
    path: '/v1/slow',
    operationId: 'slow',
    summary: 'Take a while',
    tags: ['notes'],
    scope: 'none',
    deadlineSeconds: 60,
    response: z.object({ found: z.boolean() }),
    async handle() {
      begun.resolve()
      await goOn.promise
      return { found: true }
    },
  })
  let stoodStillMs = 0
  let looksLeft = Infinity
  const looked = Promise.withResolvers<void>()
  const monotonic = (): number => {
    if (--looksLeft === 0) looked.resolve()
    return stoodStillMs
  }
  const { port } = await startDemo(t, { operations: [slow], monotonic, limits: { deadlineCheckMs: 5 } })
  const reply = call(port, 'GET', '/v1/slow')
  await begun.promise
  stoodStillMs += 3_600_000
  looksLeft = 3
  await looked.promise
  goOn.resolve()
  t.is((await reply).status, 200)
})
