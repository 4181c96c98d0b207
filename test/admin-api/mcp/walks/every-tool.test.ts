/** Every tool called by the SDK client: a valid call, whose result matches the listed schema, and an invalid call. */
import test from '#test'
import * as z from 'zod'
import { startMcp, type Era } from '../mcp-fixture.ts'
import { makeForTools, toolRequestsOf } from './tool-requests.ts'
import { FakeClock, startOfTime } from '../../../support/fake-clock.ts'

for (const era of ['legacy', 'modern'] as const satisfies readonly Era[]) {
  test(`${era}: every tool returns a result that matches its schema`, async (t) => {
    const fixture = await startMcp(t, { clock: new FakeClock(startOfTime, 1000) })
    const requests = toolRequestsOf(await makeForTools(fixture))
    const agent = await fixture.agent({ era, reachesOrganization: true })
    const { tools } = await agent.client.listTools()
    t.deepEqual(Object.keys(requests).toSorted(), tools.map(({ name }) => name).toSorted(), 'the requests match the tools')
    const schemas = new Map(tools.map(({ name, outputSchema }) => [name, z.fromJSONSchema(outputSchema as never)]))
    for (const [name, { given }] of Object.entries(requests)) {
      const called = await agent.call(name, given)
      t.is(called.isError, false, `${name}: ${called.text}`)
      t.not(called.value['found'], false, name)
      const checked = schemas.get(name)?.safeParse(called.value)
      t.true(checked?.success, `${name}: ${checked?.error?.message} ${called.text}`)
    }
    t.deepEqual(fixture.failures, [])
  })

  test(`${era}: every tool refuses invalid arguments with code, message and next action`, async (t) => {
    const fixture = await startMcp(t, { clock: new FakeClock(startOfTime, 1000) })
    const requests = toolRequestsOf(await makeForTools(fixture))
    const agent = await fixture.agent({ era, reachesOrganization: true })
    for (const [name, { wrong = { given: { no_such_argument: 1 }, code: 'validation_failed' } }] of Object.entries(requests)) {
      const called = await agent.call(name, wrong.given)
      t.true(called.isError, `${name}: ${called.text}`)
      t.like(called.value, { error: { code: wrong.code } }, `${name}: ${called.text}`)
      const { message, next_action: next } = called.value['error'] as { readonly message: string; readonly next_action: string }
      t.true(message.length > 10 && next.length > 3, `${name}: ${called.text}`)
      t.deepEqual(JSON.parse(called.text), called.value, `${name}: the text equals the structured content`)
    }
    t.deepEqual(fixture.failures, [])
  })
}
