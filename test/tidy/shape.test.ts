/** The rules about size, names, words and READMEs, with small bad examples. */
import test from '#test'
import { cutLists } from './cut-lists.ts'
import { longReadmes, readmes } from './readmes.ts'
import { fileLength, folderDepth, folderSize, functionLength, names } from './shape.ts'
import { parseSource, type Source } from './source.ts'
import { citations, headers, leftovers, oddComments, replacedIdentifiers, replacedPhrases } from './text-rules.ts'

const file = (path: string, text = ''): Source[] => [parseSource(path, text)]
const blank = (lines: number): string => '\n'.repeat(lines)

test('parseSource() throws on a file that cannot be parsed', (t) => {
  t.throws(() => parseSource('store/a.ts', 'const = 1'), { instanceOf: SyntaxError, message: /^store\/a\.ts cannot be parsed/ })
})

test('fileLength() counts lines, with or without a final line break', (t) => {
  t.deepEqual(fileLength(file('store/a.ts', `${blank(399)}1\n`)), [])
  t.deepEqual(fileLength(file('store/a.ts', `${blank(399)}1`)), [])
  t.deepEqual(fileLength(file('store/a.ts', `${blank(400)}1`)), ['store/a.ts has 401 lines, over 400'])
})

test('functionLength() measures functions, methods and arrow functions', (t) => {
  const shapes = [
    (body: string) => `function f() {${body}}`,
    (body: string) => `const f = () => {${body}}`,
    (body: string) => `const f = () => [${body}]`,
    (body: string) => `class A { m() {${body}} }`,
    (body: string) => `class A { async *m<T>(a: T = '{' as never): AsyncGenerator<{}> {${body}} }`,
    (body: string) => `const o = { get x() {${body}return 1} }`,
  ]
  for (const shape of shapes) {
    t.deepEqual(functionLength(file('store/a.ts', shape(blank(69)))), [], shape(''))
    t.deepEqual(functionLength(file('store/a.ts', shape(blank(70)))), ['store/a.ts:1 function of 71 lines, over 70'], shape(''))
  }
})

test('functionLength() ignores braces in strings, templates, patterns and comments', (t) => {
  const text = `\nfunction f() { return ['{', \`{\${'{'}\`, /[{]/] /* { */ // {\n}\n${blank(80)}function g() {${blank(70)}}`
  t.deepEqual(functionLength(file('store/a.ts', text)), ['store/a.ts:84 function of 71 lines, over 70'])
})

test('functionLength() counts nested functions in sources, but not the tests of a suite', (t) => {
  const suite = `function suite() {\n${`test('x', () => {${blank(30)}})\n`.repeat(3)}}`
  t.deepEqual(functionLength(file('store/a.ts', suite)), ['store/a.ts:1 function of 95 lines, over 70'])
  t.deepEqual(functionLength(file('test/a.ts', suite)), [])
  t.deepEqual(functionLength(file('test/a.ts', `function f() {${blank(70)}}`)), ['test/a.ts:1 function of 71 lines, over 70'])
})

test('folderDepth() allows three folders below the top-level one', (t) => {
  t.deepEqual(folderDepth(file('a/b/c/d/file.ts')), [])
  t.deepEqual(folderDepth(file('a/b/c/d/e/file.ts')), ['a/b/c/d/e/file.ts lies more than 3 folders below its top-level folder'])
})

test('folderSize() allows fifteen files side by side', (t) => {
  const files = (count: number): Source[] => Array.from({ length: count }, (_, i) => file(`store/level/f${i}.ts`)).flat()
  t.deepEqual(folderSize([...files(15), ...file('store/a.ts')]), [])
  t.deepEqual(folderSize(files(16)), ['store/level has 16 files, over 15; give it a second level'])
})

test('names() refuses empty words and anything but kebab-case, in files and folders', (t) => {
  for (const path of ['store/utils.ts', 'store/string-util.ts', 'daemon/common/x.ts', 'store/queue-manager.ts', 'test/helpers.test.ts']) {
    t.regex(names(file(path)).join(), /does not describe the contents/, path)
  }
  for (const path of ['store/kvStore.ts', 'store/kv_store.ts', 'Store/kv.ts', 'store/-kv.ts']) {
    t.regex(names(file(path)).join(), /is not kebab-case/, path)
  }
  t.deepEqual([...names(file('store/utility-token.ts')), ...names(file('test/admin-api/rest/sending/messages.test.ts'))], [])
})

test('leftovers() finds marks of unfinished work, and tests that exclude others', (t) => {
  for (const mark of ['TO' + 'DO', 'FIX' + 'ME', 'X'.repeat(3)]) {
    t.regex(leftovers(file('store/a.ts', `let a\n// ${mark}: later`)).join(), /^store\/a\.ts:2 /, mark)
  }
  t.deepEqual(leftovers(file('store/a.ts', "mkdtemp('a-XXXXXX') // to do this")), [])
  for (const call of ['test.only', 'test.serial.only']) {
    t.deepEqual(leftovers(file('test/a.test.ts', `${call}('x', (t) => t.pass())`)), [
      'test/a.test.ts:1 a test marked "only" hides all others',
    ])
  }
  t.deepEqual(leftovers(file('test/a.test.ts', "test.serial('x', (t) => t.pass()); list.only()")), [])
})

test('cutLists() finds page sizes in screens, and none in app/', (t) => {
  const client = 'admin-api/dashboard/client'
  for (const size of ["'200'", '200', 'String(most)'])
    t.regex(cutLists(file(`${client}/traces/a.ts`, `const a = {\nlimit: ${size} }`)).join(), /traces\/a\.ts:2 sets a page size/, size)
  t.deepEqual(cutLists(file(`${client}/app/all.ts`, "const a = { limit: '200' }")), [])
  t.deepEqual(cutLists(file(`${client}/traces/a.tsx`, 'const a = <Gauge limit={1} />')), [])
})

test('headers() requires a comment first, in every source except tests', (t) => {
  t.deepEqual(headers(file('store/a.ts', 'let a')), ['store/a.ts does not start with a comment that describes it'])
  t.deepEqual(headers(file('store/a.ts', '#!/usr/bin/env node\nlet a')).length, 1)
  t.deepEqual(headers(file('store/a.ts', '/** Keys. */\nlet a')), [])
  t.deepEqual(headers(file('store/a.ts', '#!/usr/bin/env node\n// Start.\nlet a')), [])
  t.deepEqual(headers(file('test/a.test.ts', 'let a')), [])
})

test('citations() accepts the one form, and text that only looks like a citation', (t) => {
  const good = [
    'RFC 3464',
    'see RFC 3464 §2.3.3.',
    'RFC 3464 §2.3, §2.4 and RFC 5321 §4.1.1.1, here',
    'RFC 5321 §F.2',
    'message/rfc822',
    'rfc822;a@b.example',
    'https://www.example.org/rfc/rfc5321',
    'rfc5322Date()',
    'wrapped RFC\n * 3464\n * §2.3',
  ]
  for (const text of good) t.deepEqual(citations(file('store/a.ts', `/* ${text} */`), [{ path: 'a.md', text }]), [], text)
})

test('citations() refuses every other form, in comments, test titles and documents', (t) => {
  const bad = [
    'RFC3464',
    'rfc 3464',
    'RFC-3464',
    'RFC #3464',
    'RFC 3464 section 2.3',
    'RFC 3464, Section 2.3',
    'RFC 3464 (section 2.3',
    'RFC 3464 sec. 2.3',
    'RFC 3464 § 2.3',
    'RFC 3464, §2.3',
    'RFC 3464§2.3',
    'RFC 3464 §§2.3',
    'RFC 3464 appendix A',
    'section 2.3 of RFC 3464',
    '§2.3 of RFC 3464',
    'RFCs 3464',
    'RFC\n * 3464 section\n * 2.3',
  ]
  for (const text of bad) {
    t.is(citations(file('store/a.ts', `let a\n/* ${text} */`), []).length, 1, text)
    t.is(citations([], [{ path: 'a.md', text: `x\n\n${text}` }]).length, 1, text)
  }
  t.deepEqual(citations(file('test/a.test.ts', "\ntest('RFC3464 x', (t) => t.pass())"), []), [
    'test/a.test.ts:2 "RFC3464": write it as RFC 3464 §2.3.3',
  ])
  t.deepEqual(citations([], [{ path: 'a.md', text: '\n\nRFC3464' }]), ['a.md:3 "RFC3464": write it as RFC 3464 §2.3.3'])
})

test('citations() ignores strings, which quote other texts', (t) => {
  t.deepEqual(citations(file('ingest/a.ts', "const reply = 'not RFC5322 compliant'"), []), [])
})

test('readmes() requires a README.md with a row for each file, and no rows for missing files', (t) => {
  const sources = [...file('store/a.ts'), ...file('store/b.ts'), ...file('store/level/c.ts')]
  const judge = (text: string) => readmes({ sources, documents: [{ path: 'store/README.md', text }] }, ['store'])
  t.deepEqual(readmes({ sources, documents: [] }, ['store']), ['store has no README.md'])
  const table = '| file | holds |\n| --- | --- |\n| `a.ts` | a |\n| [`b.ts`](b.ts) | b |\n| `level/c.ts` | c |\n'
  t.deepEqual(judge(table), [])
  t.deepEqual(judge(table.replace('| `a.ts`', '| a')), ['store/README.md has no table row for a.ts'])
  t.deepEqual(judge(`${table}| \`d.ts\` | d |\n`), ['store/README.md has a row for d.ts, which is not there'])
  t.deepEqual(judge('In words only: a.ts, b.ts\n').length, 2)
  const below = { path: 'store/level/README.md', text: '# level' }
  t.deepEqual(readmes({ sources, documents: [{ path: 'store/README.md', text: table }, below] }, ['store']), [
    'store/level/README.md has no table row for c.ts',
  ])
})

test('longReadmes() requires a README.md of at most 60 lines, 150 at the top; an index has no limit', (t) => {
  const long = (path: string, lines: number) => longReadmes([{ path, text: 'line\n'.repeat(lines) }])
  t.deepEqual(long('store/README.md', 60), [])
  t.deepEqual(long('store/README.md', 61), ['store/README.md has 61 lines, more than 60'])
  t.deepEqual(long('README.md', 150), [])
  t.is(long('README.md', 151).length, 1)
  t.deepEqual(
    [...long('store/decisions/README.md', 500), ...long('admin-api/docs/README.md', 500), ...long('admin-api/docs/smtp.md', 500)],
    [],
  )
})

test('replacedPhrases() finds phrases in strings, templates and documents, but not in tests', (t) => {
  const phrases = (text: string, path = 'store/a.ts') => replacedPhrases(file(path, text), [])
  t.deepEqual(phrases("\nlet a = '100 unless told.'"), ['store/a.ts:2 "unless told": write "by default"'])
  t.is(phrases('let a = `${b} Unless\ntold.`').length, 1)
  t.deepEqual(phrases('/** One.\n * 100 unless\n * told. */'), ['store/a.ts:2 "unless told": write "by default"'])
  t.deepEqual(phrases("// the newest first\nlet unlessTold = 'by default'"), [])
  t.deepEqual(phrases("let a = 'unless told'", 'test/a.ts'), [])
  t.deepEqual(replacedPhrases([], [{ path: 'README.md', text: 'One.\n\nWhat\nbecame of it' }]), [
    'README.md:3 "what became of": write "the outcome of"',
  ])
})

test('replacedIdentifiers() finds replaced names, also private ones, and limits ending in Max', (t) => {
  const names = (text: string) => replacedIdentifiers(file('store/a.ts', text))
  t.deepEqual(names('class A {\n  #underWay = 1\n}'), ['store/a.ts:2 underWay: name it inFlight'])
  t.deepEqual(names('const bytesMax = 1\nbytesMax + 1'), ['store/a.ts:1 bytesMax: name it maxBytes'])
  t.deepEqual(names("const maxBytes = 'bytesMax' // bytesMax"), [])
})

test('replacedIdentifiers() finds replaced words within names, except stored names', (t) => {
  const names = (text: string, path = 'store/a.ts') => replacedIdentifiers(file(path, text))
  t.deepEqual(names('class A {\n  #suppressingHouse = 1\n}'), ['store/a.ts:2 suppressingHouse: name it fixture'])
  t.deepEqual(names('let rightsOfMember'), ['store/a.ts:1 rightsOfMember: name it scopes'])
  t.deepEqual(names('const judge_all = 1'), ['store/a.ts:1 judge_all: name it check'])
  t.is(names('type MintedKey = string').length, 1)
  t.is(names('let mayMint = 1').length, 1)
  t.deepEqual(names('let minter, mintedBy, minted_by, mintedWith, housekeeping, detours'), [])
  t.deepEqual(names('let told, judge', 'test/a.ts'), [])
  t.is(names('let bigHouse', 'test/a.ts').length, 1)
})

test('oddComments() finds "Answers" at the start, "nobody" and wide lines, also in tests', (t) => {
  const odd = (text: string) => oddComments(file('test/a.ts', text))
  t.deepEqual(odd('/** Answers a request. */'), ['test/a.ts:1 "Answers …": write "Returns …"'])
  t.deepEqual(odd('let a = 1\n/**\n * Answer of it.\n */'), ['test/a.ts:2 "Answers …": write "Returns …"'])
  t.deepEqual(odd('/**\n * One.\n * Nobody asks.\n */'), ['test/a.ts:3 "nobody": write "no one, none or what is missing"'])
  t.deepEqual(odd(`/**\n * ${'x'.repeat(138)}\n */`), ['test/a.ts:2 141 characters: wrap the comment at 140, or shorten it'])
  t.is(odd(`let a = 1 // ${'x'.repeat(128)}`).length, 1)
  t.deepEqual(odd(`/**\n * ${'x'.repeat(137)}\n */\nlet a = 'nobody ${'x'.repeat(140)}'\n// It answers.`), [])
})
