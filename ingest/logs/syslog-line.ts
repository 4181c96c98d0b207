/** Syslog headers as files and shippers have them: RFC 3164, RFC 3339 times, RFC 5424. */
import type { ShippedLine } from './shipped-record.ts'

const priority = '^(?:<\\d{1,3}>)?'
const tag = ' +(\\S{1,255}) ([^\\s:[\\]]{1,64})(?:\\[\\d{1,10}\\])?: ?'
/** Such a time has neither year nor zone: it says nothing sure. RFC 3164 §4.1.2. */
const bsd = new RegExp(`${priority}[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})?${tag}`)
const dated = new RegExp(`${priority}(\\d{4}-\\d\\d-\\d\\dT\\S{8,30})${tag}`)
/** RFC 5424 §6: structured data is `-`, or elements in brackets with quoted values. */
const rfc5424 =
  /^<\d{1,3}>1 (\S{1,64}) (\S{1,255}) (\S{1,64}) \S{1,128} \S{1,128} (?:-|(?:\[(?:[^\]\\"]|"(?:[^"\\]|\\[^])*")*\])+)(?: \ufeff?|$)/
/** A container's output has the program, but no time and host. */
const bare = /^(postfix[^\s:[\]]{0,57})\[\d{1,10}\]: /

/** A line without its header; undefined when there is none. */
export function syslogLine(line: string): ShippedLine | undefined {
  const structured = line.startsWith('<') ? rfc5424.exec(line) : null
  if (structured) return shipped(line, structured, structured[3], structured[2], structured[1])
  const exact = dated.exec(line)
  if (exact) return shipped(line, exact, exact[3], exact[2], exact[1])
  const old = bsd.exec(line)
  if (old) return shipped(line, old, old[2], old[1])
  const output = line.startsWith('postfix') ? bare.exec(line) : null
  return output ? shipped(line, output, output[1]) : undefined
}

const shipped = (line: string, head: RegExpExecArray, program = '-', host = '-', time: string | null = null): ShippedLine => ({
  text: line.slice(head[0].length),
  program: program === '-' ? null : program,
  host: host === '-' ? null : host,
  time: time === '-' ? null : time,
})
