/** Every tool under every scope and role: a call without sufficient scope is refused and has no effect, for any arguments. */
import test from '#test'
import { mcpResource } from '../../oauth/oauth-fixture.ts'
import { changedSince, rowsOf } from '../../rest/fixture/organization-rows.ts'
import { callDirectly, lastMessage, startMcp } from '../mcp-fixture.ts'
import { makeForTools, toolRequestsOf } from './tool-requests.ts'

const scopes = ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin']

for (const [level, scope] of scopes.entries())
  test(`${scope}: tools above the scope are refused and change nothing; all others work`, async (t) => {
    const fixture = await startMcp(t)
    const made = await makeForTools(fixture)
    const token = await fixture.tokenOf(scopes.slice(0, level + 1).join(' '))
    const errorOf = async (name: string, given: unknown): Promise<unknown> => {
      const { text } = await callDirectly(fixture, token, name, given)
      return (lastMessage(text) as { result: { structuredContent: { error: unknown } } }).result.structuredContent.error
    }
    const before = await rowsOf({ ...fixture, made })
    for (const { binding, scope: needed } of fixture.daemon.agents.tools.filter((tool) => tool.level > level)) {
      const error = (await errorOf(binding.name, toolRequestsOf(made)[binding.name]?.given)) as object
      t.like(error, { code: 'insufficient_scope', next_action: 'reconnect_with_scope', details: { required_scope: needed } }, binding.name)
    }
    t.deepEqual(await changedSince({ ...fixture, made }, before), [])
    for (const { binding } of fixture.daemon.agents.tools.filter((tool) => tool.level <= level)) {
      const error = (await errorOf(binding.name, { not_an_argument: 1 })) as object
      t.like(error, { code: 'validation_failed' }, binding.name)
    }
  })

test('scopes: the role of the user limits every call', async (t) => {
  const fixture = await startMcp(t)
  const made = await makeForTools(fixture)
  const token = await fixture.tokenOf()
  await fixture.setRole('viewer')
  const agent = await fixture.agent({ token })
  const before = await rowsOf({ ...fixture, made })
  for (const { binding } of fixture.daemon.agents.tools.filter((tool) => tool.level > 0)) {
    const error = await agent.refused(binding.name, toolRequestsOf(made)[binding.name]?.given)
    t.like(error, { code: 'insufficient_scope', next_action: 'ask_administrator' }, binding.name)
  }
  t.deepEqual(await changedSince({ ...fixture, made }, before), [])
  await fixture.setRole('billing')
  const { status } = await fixture.fetch(mcpResource, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{}' })
  t.is(status, 403, 'a role without read access is refused')
})
