/** Catalogs in ICU MessageFormat: compiled for the service and for browsers, with English in place of missing translations. */
import test, { type ExecutionContext } from '#test'
import { messageModule } from '#config/texts/message-module.ts'
import type { MessageTree } from '#config/texts/message-tree.ts'
import { compileTree, type CompiledTree } from '#config/texts/messages.ts'
import { parametersType } from '#config/texts/parameter-types.ts'

const english: MessageTree = {
  plain: 'Queue #1',
  apostrophe: "It''s '{'empty'}'",
  counted: '{n, plural, one {1 message} other {# messages}} in {place}',
  group: { held: '{isMore, select, true {At least } other {}}{n, number} held', by: 'by {name}' },
}
const french: MessageTree = {
  counted: '{n, plural, one {# message} other {# messages}} dans {place}',
  group: { held: '{n, number} retenus', unknown: 'not in English' },
}

type Call = (parameters: Readonly<Record<string, unknown>>) => string

function checkFrench(t: ExecutionContext, made: CompiledTree): void {
  const { held, by, ...others } = made['group'] as Readonly<Record<string, Call>>
  const counted = made['counted'] as Call
  t.is(made['plain'], 'Queue #1')
  t.is(made['apostrophe'], "It's {empty}")
  t.is(counted({ n: 0, place: 'file' }), '0 message dans file')
  t.is(counted({ n: 1234, place: 'file' }), `${new Intl.NumberFormat('fr-CH').format(1234)} messages dans file`)
  t.is(held?.({ n: 1234.5678, isMore: true }), `${new Intl.NumberFormat('fr-CH').format(1234.5678)} retenus`)
  t.is(by?.({ name: 'Ada' }), 'by Ada')
  t.is(Object.keys(others).length, 0)
}

test('compileTree(): messages with parameters are functions, and missing translations are English', (t) => {
  checkFrench(t, compileTree(english, french, 'fr-CH', 'en-GB'))
})

test('compileTree(): English messages follow the English locale in another language', (t) => {
  const counted = compileTree(english, undefined, 'fr-CH', 'en-GB')['counted'] as Call
  t.is(counted({ n: 0, place: 'x' }), '0 messages in x')
  t.is(counted({ n: 1234, place: 'x' }), '1,234 messages in x')
})

test('messageModule(): the module for browsers has the same messages', async (t) => {
  const text = messageModule(english, french, 'fr-CH', 'en-GB').replaceAll(
    /from '(@messageformat\/runtime[^']*)'/g,
    (_, name: string) => `from '${import.meta.resolve(name)}'`,
  )
  const { default: made } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as { readonly default: CompiledTree }
  checkFrench(t, made)
})

test('parametersType(): types follow the use of each parameter', (t) => {
  t.is(
    parametersType({ ...english, by: '{who, select, undefined {unknown} other {{who}}}' }),
    '{ counted: { n: number; place: string | number }; group: { held: { isMore: boolean; n: number }; by: { name: string | number } }; ' +
      'by: { who: string | undefined } }',
  )
  t.is(parametersType({ plain: 'Queue' }), undefined)
  t.throws(() => parametersType({ odd: '{n, plural, other {x}} {n, select, true {y} other {}}' }), {
    message: /n is used as number and as boolean/,
  })
})
