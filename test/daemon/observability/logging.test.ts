/** Log lines: format, secrets, and text from remote servers. */
import test from '#test'
import { cleanJson, cleanText } from '../../../daemon/observability/clean-text.ts'
import { createLogger } from '../../../daemon/observability/logging.ts'

type Line = Record<string, unknown>

function capture(level = 'debug') {
  const lines: string[] = []
  const log = createLogger(level, { write: (line) => void lines.push(line) })
  const last = (): Line => JSON.parse(lines.at(-1) ?? '{}') as Line
  return { log, lines, last }
}

test('createLogger() writes one JSON object a line, with level and RFC 3339 time', (t) => {
  const { log, lines, last } = capture()
  log.info({ trace_id: 'abc' }, 'taken')
  t.is(lines.length, 1)
  t.regex(lines[0] ?? '', /^\{.*\}\n$/)
  t.like(last(), { level: 'info', trace_id: 'abc', msg: 'taken' })
  t.regex(String(last()['time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('createLogger(): omits lines below the level', (t) => {
  const { log, lines } = capture('warn')
  log.info('no')
  log.warn('yes')
  t.is(lines.length, 1)
})

test('createLogger() hides secrets at every depth, in lists, in children and in causes', (t) => {
  const { log, lines, last } = capture()
  const secret = 'hush-hush'
  log.info({
    password: secret,
    apiKey: secret,
    a: { client_secret: secret, b: [{ Authorization: secret, deep: { access_token: secret } }] },
  })
  log.child({ smtpPassword: secret }).info('child')
  log
    .child({ part: 'x' })
    .child({ key: secret })
    .info({ headers: { cookie: secret } }, 'grandchild')
  log.error({ err: new Error('outer', { cause: { passphrase: secret } }) }, 'failed')
  log.error(Object.assign(new Error('request failed'), { options: { auth: secret } }))
  t.is(lines.length, 5)
  t.false(lines.join('').includes(secret))
  t.like(JSON.parse(lines[0] ?? ''), { password: '[redacted]', apiKey: '[redacted]', a: { client_secret: '[redacted]' } })
  t.like(JSON.parse(lines[2] ?? ''), { part: 'x', key: '[redacted]', msg: 'grandchild' })
  t.like(last(), { msg: 'request failed', err: { type: 'Error' } })
})

test('createLogger(): keeps values that only resemble secrets', (t) => {
  const { log, last } = capture()
  log.info({ api_key_id: 'k1', credential_id: 'c1', password: null, hasSecret: true })
  t.like(last(), { api_key_id: 'k1', credential_id: 'c1', password: null, hasSecret: true })
})

test('createLogger(): text of remote servers cannot break, color or flood a line', (t) => {
  const { log, lines, last } = capture()
  const hostile = 'mail\r\n{"level":"fatal"}\u001b[31m\u009b2J\u2028\u0000end'
  log.info({ helo: hostile, [`na\nme`]: 1, list: [hostile] }, hostile)
  log.child({ helo: hostile }).info('child')
  for (const line of lines) t.is(line.search(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028]|\n./), -1)
  for (const line of lines) t.notRegex(JSON.stringify(JSON.parse(line)), /\\[nr]|\\u00/)
  log.info({ subject: 'x'.repeat(100_000), list: Array.from({ length: 1000 }, () => 'y') }, 'z'.repeat(100_000))
  t.true((lines.at(-1) ?? '').length < 5000)
  t.is(last()['subject'], cleanText('x'.repeat(100_000)))
})

test('cleanText(): names invisible characters, keeps those of scripts and emoji', (t) => {
  t.is(cleanText('invoice\u202efdp.exe'), 'invoice<U+202E>fdp.exe')
  t.is(cleanText('\u2066\u2069\u200e\u061c\ufeff\u{e0041}'), '<U+2066><U+2069><U+200E><U+061C><U+FEFF><U+E0041>')
  const family = 'می\u200cخواهم 👩\u200d👩\u200d👧 Zürich'
  t.is(cleanText(family), family)
  const [line = '', ...others] = ['a\u009b2J\u202e\u2028b', '😀\u{e0041}'].map((text) => cleanJson(JSON.stringify(text)))
  t.is(line, '"a\\u009b2J\\u202e\\u2028b"')
  t.is(JSON.parse(line), 'a\u009b2J\u202e\u2028b')
  t.deepEqual(others, ['"😀\\udb40\\udc41"'])
})

test('cleanText(): escapes invisible characters except joiners and variation selectors', (t) => {
  const [ignorable, kept] = [/\p{Default_Ignorable_Code_Point}/u, /[\u200c\u200d\p{Variation_Selector}]/u]
  const unlike: string[] = []
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    const character = code >= 0xd8_00 && code <= 0xdf_ff ? '' : String.fromCodePoint(code)
    if (!ignorable.test(character)) continue
    const shown = kept.test(character) ? character : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
    if (cleanText(`a${character}b`) !== `a${shown}b`) unlike.push(code.toString(16))
  }
  t.deepEqual(unlike, [])
})

test('createLogger(): handles values that JSON cannot represent', (t) => {
  const { log, last } = capture()
  const circle: Line = { name: 'circle' }
  circle['self'] = circle
  log.info({
    circle,
    big: 10n,
    bytes: new Uint8Array(3),
    when: new Date(0),
    never: new Date(Number.NaN),
    map: new Map([[1, 2]]),
    nothing: undefined,
  })
  t.like(last(), { big: '10', bytes: '[3 bytes]', when: '1970-01-01T00:00:00.000Z', never: 'invalid date', map: '[1 entries]' })
})

test('createLogger() writes errors with code, cause and places', (t) => {
  const { log, last } = capture()
  const cause = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  log.fatal({ err: new TypeError('write failed', { cause }) }, 'cannot go on')
  t.like(last(), { err: { type: 'TypeError', message: 'write failed', cause: { message: 'no space', code: 'ENOSPC' } } })
  t.regex(JSON.stringify(last()), /logging\.test\.ts/)
})
