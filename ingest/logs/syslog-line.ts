/** Parses syslog headers in the forms of files and shippers: RFC 3164, RFC 3339 times, RFC 5424. */
import type { ShippedLine } from './shipped-record.ts'

const priority = '^(?:<\\d{1,3}>)?'
const tag = ' +(\\S{1,255}) ([^\\s:[\\]]{1,64})(?:\\[\\d{1,10}\\])?: ?'
/** The time has no year and no zone, so it is not used (RFC 3164 §4.1.2). */
const bsd = new RegExp(`${priority}[A-Z][a-z]{2} [ \\d]\\d(?: \\d{4})? \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?${tag}`)
const dated = new RegExp(`${priority}(\\d{4}-\\d\\d-\\d\\dT\\S{8,30})${tag}`)
/** RFC 5424 §6: structured data is `-`, or elements in brackets with quoted values. */
const rfc5424 =
  /^<\d{1,3}>1 (\S{1,64}) (\S{1,255}) (\S{1,64}) \S{1,128} \S{1,128} (?:-|(?:\[(?:[^\]\\"]|"(?:[^"\\]|\\[^])*")*\])+)(?: \ufeff?|$)/
/** `short-full` of journalctl. Of the zone names, only UTC is unambiguous. */
const weekday = new RegExp(`^[A-Z][a-z]{2} (\\d{4}-\\d\\d-\\d\\d) (\\d\\d:\\d\\d:\\d\\d) ([A-Z][\\w+-]{1,7})${tag}`)
/** The output of a container has a program, but no time and host. */
const bare = /^(postfix[^\s:[\]]{0,57}|[^\s:[\]]{1,48}\/[a-z]{2,16})\[\d{1,10}\]: /
const level = '(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|CRIT|CRITICAL|ALERT|EMERG|FATAL)'
/** A line of an image that writes the log level in the place of the host. */
const levelled = new RegExp(`^(\\d{4}-\\d\\d-\\d\\dT\\S{8,30}) +${level} +(?=\\S+\\[)`)
/** Prefixes of container engines with the time: Kubernetes, Docker, and Docker Compose. */
const wrappers = [/^(\d{4}-\d\d-\d\dT\S{8,30}) (?:stdout|stderr) [FP] /, levelled, /^(\d{4}-\d\d-\d\dT\S{8,30}) /, /^[\w.-]{1,64} +\| /]
const mostWrappers = 3

/**
 * Removes the syslog header and the prefix of a container engine. Returns undefined if the line has no header. A line that matches `own`
 * begins with the header of its program, which is preserved.
 */
export function syslogLine(line: string, own?: RegExp, wrapped = 0): ShippedLine | undefined {
  const found = own?.test(line) ? { text: line, program: null, host: null, time: null } : headedLine(line)
  if (found || wrapped === mostWrappers) return found
  for (const wrapper of wrappers) {
    const head = wrapper.exec(line)
    const inner = head && syslogLine(line.slice(head[0].length), own, wrapped + 1)
    if (inner) return { ...inner, time: inner.time ?? head[1] ?? null }
  }
  return undefined
}

function headedLine(line: string): ShippedLine | undefined {
  const structured = line.startsWith('<') ? rfc5424.exec(line) : null
  if (structured) return shipped(line, structured, structured[3], structured[2], structured[1])
  const exact = levelled.test(line) ? null : dated.exec(line)
  if (exact) return shipped(line, exact, exact[3], exact[2], exact[1])
  const old = bsd.exec(line)
  if (old) return shipped(line, old, old[2], old[1])
  const full = weekday.exec(line)
  if (full) return shipped(line, full, full[5], full[4], full[3] === 'UTC' ? `${full[1]}T${full[2]}Z` : null)
  const output = bare.exec(line)
  return output ? shipped(line, output, output[1]) : undefined
}

const shipped = (line: string, head: RegExpExecArray, program = '-', host = '-', time: string | null = null): ShippedLine => ({
  text: line.slice(head[0].length),
  program: program === '-' ? null : program,
  host: host === '-' ? null : host,
  time: time === '-' ? null : time,
})
