/** Verdicts as JUnit XML, which CI systems show as tests. Pure. */
import type { Verdict } from './expectations.ts'

export interface JunitRun {
  readonly verdicts: readonly Verdict[]
  readonly startedAt: Date
  readonly seconds: number
}

/** One suite with a test case for each expectation. */
export function junitXml({ verdicts, startedAt, seconds }: JunitRun): string {
  const failures = verdicts.filter(({ fault }) => fault !== undefined).length
  const counts = `tests="${verdicts.length}" failures="${failures}" errors="0" time="${seconds.toFixed(3)}"`
  const timestamp = startedAt.toISOString().slice(0, 19)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="postern capture" ${counts}>`,
    `  <testsuite name="mail" ${counts} skipped="0" timestamp="${timestamp}">`,
    ...verdicts.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testCase({ name, fault }: Verdict): string {
  const head = `    <testcase classname="postern.capture" name="${escaped(name)}" time="0"`
  if (fault === undefined) return `${head}/>`
  const [first = ''] = fault.split('\n')
  return `${head}>\n      <failure type="ExpectationFailed" message="${escaped(first)}">${escaped(fault)}</failure>\n    </testcase>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes a text and removes characters that XML 1.0 §2.2 forbids. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
