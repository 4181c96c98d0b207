/** Prompts name existing tools in order, and contain the rules for decisions and secrets. */
import test from '#test'
import { startMcp } from './mcp-fixture.ts'
import { specifiedTools } from './specified-tools.ts'

const specified = ['diagnose_missing_email', 'set_up_transactional_email', 'migrate_provider', 'add_inbound_handler', 'score_my_email']

for (const era of ['legacy', 'modern'] as const)
  test(`${era}: lists the specified prompts, which name existing tools`, async (t) => {
    const { client } = await (await startMcp(t)).agent({ era })
    const { prompts } = await client.listPrompts()
    t.deepEqual(
      prompts.map(({ name }) => name),
      specified,
    )
    for (const { name, arguments: taken = [] } of prompts) {
      const given = Object.fromEntries(taken.map((one) => [one.name, `given-${one.name}`]))
      const { messages } = await client.getPrompt({ name, arguments: given })
      const text = JSON.stringify(messages)
      for (const one of taken) t.true(text.includes(`given-${one.name}`), `${name}: ${one.name}`)
      const tools = [...text.matchAll(/\b(?:email|account|destination)_[a-z_]+\b/g)]
        .map(([tool]) => tool)
        .filter((tool) => !tool.endsWith('_id'))
      t.true(tools.length >= 2, name)
      t.deepEqual(
        tools.filter((tool) => !(tool in specifiedTools)),
        [],
        name,
      )
      t.regex(text, /stop and ask me/)
    }
    await t.throwsAsync(client.getPrompt({ name: 'diagnose_missing_email' }), { message: /recipient is required/ })
    await t.throwsAsync(client.getPrompt({ name: 'dance' }), { message: /No prompt/ })
  })
