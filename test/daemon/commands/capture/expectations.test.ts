/** Expectations about captured mail, and their results as JUnit XML. */
import { execFileSync } from 'node:child_process'
import test from '#test'
import {
  ExpectationUnclear,
  check,
  readExpectation,
  readExpectations,
  type CaughtMail,
} from '../../../../daemon/commands/capture/expectations.ts'
import { junitXml } from '../../../../daemon/commands/capture/junit.ts'
import { reasonAgainst } from '../../../support/peers/peer-packages.ts'

const mail = (fields: Partial<CaughtMail>): CaughtMail => ({
  ...{ from: 'shop@site.test', to: ['ann@x.test'], subject: 'Welcome', text: '', html: '', attachments: [], ...fields },
})

const mails = [
  mail({}),
  mail({ to: ['Bob@x.test', 'eve@y.test'], subject: 'Reset "it" now', text: 'Hello\nBob', attachments: ['bill.pdf', 'terms.pdf'] }),
  mail({ subject: 'welcome back', html: '<b>Hi</b>' }),
]
const isMet = (line: string): boolean => check(readExpectation(line), mails).fault === undefined

test('expectations: a mail must match all terms', (t) => {
  for (const line of [
    'to=ann@x.test',
    'to=BOB@X.test count=1',
    'to~=@x.test count=3',
    'subject=Welcome count=1',
    'subject~=welcome count>=2',
    'subject~="reset \\"it\\" now" to=eve@y.test',
    'text~=hello',
    'html~=<B> subject~=back',
    'attachment=terms.pdf',
    'from=shop@site.test count<=3',
    'to=nobody@x.test count=0',
    'count=3',
  ])
    t.true(isMet(line), line)
  for (const line of [
    'to=nobody@x.test',
    'to=ann@x.test count=1',
    'subject=welcome',
    'attachment=terms',
    'text=Hello',
    'to~=@x.test count<=2',
  ])
    t.false(isMet(line), line)
})

test('expectations: a failed one lists the captured mail', (t) => {
  const { name, fault } = check(readExpectation('name="two letters" to=ann@x.test subject=Welcome count=2'), mails)
  t.is(name, 'two letters')
  t.is(
    fault,
    'Expected exactly 2 messages, found 1. Caught:\nann@x.test: Welcome\nBob@x.test, eve@y.test: Reset "it" now\nann@x.test: welcome back',
  )
  t.is(check(readExpectation('to=a@b.test'), []).fault, 'Expected at least 1 message, found 0. No mail was caught.')
})

test('expectations: an invalid one is refused with a sentence', (t) => {
  const wrong: readonly [string, RegExp][] = [
    ['', /write terms such as/],
    ['hello', /^hello: write terms/],
    ['to=a@b.test subject=two words', /write terms such as/],
    ['cc=a@b.test', /cc is not a field\. The fields are to, from, subject, text, html, attachment, name and count/],
    ['to>=a@b.test', /to needs = or ~=/],
    ['count~=1', /count needs/],
    ['count=some', /count needs/],
    ['count=1 count=2', /count is given twice/],
    ['subject="open', /write terms such as/],
    ['to==', /write terms such as/],
    ['subject==Welcome', /write terms such as/],
    ['to=ann', /^to=ann: to= needs a whole address such as ada@example\.com\. For a part of an address, use to~=\.$/],
  ]
  for (const [line, message] of wrong) t.throws(() => readExpectation(line), { instanceOf: ExpectationUnclear, message }, line)
  t.is(readExpectations('# all of them\n\n to=a@b.test \r\nto=b@b.test\n').length, 2)
})

test('JUnit XML: other parsers accept all characters', (t) => {
  if (reasonAgainst('python') !== undefined) return t.fail(reasonAgainst('python'))
  const name = 'subject~="<a> & b" \u0000\ud800 ü'
  const verdicts = [
    { name, fault: 'Expected "1" < 2.\nMore & more\u0001' },
    { name: 'to=a@b.test', fault: undefined },
  ]
  const xml = junitXml({ verdicts, startedAt: new Date(0), seconds: 1.5 })
  const script = `import sys, json, xml.etree.ElementTree as E
suites = E.fromstring(sys.stdin.buffer.read())
suite = suites.find('testsuite')
cases = [[c.get('name'), [[f.get('message'), f.text] for f in c.findall('failure')]] for c in suite.findall('testcase')]
print(json.dumps([suites.tag, dict(suite.attrib), cases]))`
  const read = JSON.parse(execFileSync('/usr/bin/python3', ['-c', script], { input: xml, encoding: 'utf8' })) as unknown
  t.deepEqual(read, [
    'testsuites',
    { name: 'mail', tests: '2', failures: '1', errors: '0', skipped: '0', time: '1.500', timestamp: '1970-01-01T00:00:00' },
    [
      [name.replace('\u0000\ud800', '\ufffd\ufffd'), [['Expected "1" < 2.', 'Expected "1" < 2.\nMore & more\ufffd']]],
      ['to=a@b.test', []],
    ],
  ])
})
