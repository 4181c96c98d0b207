/** Reads messages with the email package of Python, which shares no code and no author with ours. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { testWith } from './peers.ts'

const run = promisify(execFile)

/** `test`, skipped without Python 3. */
export const withPython = testWith('python')

export interface PythonAddress {
  readonly name: string
  readonly address: string
}

/** A part that is not a multipart, in the order of the message. */
export interface PythonPart {
  readonly type: string
  /** Parameters of Content-Type, except `name`. */
  readonly parameters: Readonly<Record<string, string>>
  readonly encoding: string
  /** Empty if the field is missing. */
  readonly disposition: string
  /** From Content-Disposition. */
  readonly filename: string | null
  /** From Content-Type. */
  readonly name: string | null
  readonly contentId: string | null
  readonly octets: Buffer
}

export interface PythonMail {
  /** Defects of every part and field, as `part/field: class: text`. */
  readonly defects: readonly string[]
  readonly subject: string
  readonly from: readonly PythonAddress[]
  readonly to: readonly PythonAddress[]
  readonly cc: readonly PythonAddress[]
  readonly replyTo: readonly PythonAddress[]
  /** Seconds since the epoch. */
  readonly date: number
  /** Decoded fields, by name in lower case. */
  readonly fields: Readonly<Record<string, string>>
  /** Types of all parts, the outermost first. */
  readonly structure: readonly string[]
  readonly parts: readonly PythonPart[]
  /** Blocks of fields in message/delivery-status, by name in lower case. */
  readonly statuses: readonly Readonly<Record<string, string>>[]
}

// A header with non-ASCII characters (RFC 6532) is parsed as text, since the package expects octets to be ASCII.
const reader = `
import sys, json, base64, email
from email import policy
def read(raw):
    if raw.isascii(): return email.message_from_bytes(raw, policy=policy.default)
    return email.message_from_string(raw.decode('utf-8'), policy=policy.SMTPUTF8)
def addresses(field):
    return [{'name': a.display_name, 'address': a.addr_spec} for a in field.addresses] if field else []
def octets(part):
    if part.get_content_type() == 'message/rfc822':
        return part.get_payload(0).as_bytes(policy=part.policy.clone(linesep='\\r\\n', refold_source='none'))
    return part.get_payload(decode=True)
def describe(part):
    parameters = dict(part['content-type'].params)
    name = parameters.pop('name', None)
    return {'type': part.get_content_type(), 'parameters': parameters, 'encoding': part.get('content-transfer-encoding', ''),
      'disposition': part.get_content_disposition() or '', 'filename': part.get_filename(), 'name': name,
      'contentId': part.get('content-id'), 'octets': base64.b64encode(octets(part)).decode()}
def tell(message):
    parts, defects = list(message.walk()), []
    for part in parts:
        defects += [f'{part.get_content_type()}: {type(d).__name__}: {d}' for d in part.defects]
        for name, value in part.items():
            defects += [f'{part.get_content_type()}/{name}: {type(d).__name__}: {d}' for d in value.defects]
    whole = [part for part in message.walk() if not part.is_multipart() or part.get_content_type() == 'message/rfc822']
    inner = [part for outer in whole if outer.is_multipart() for part in outer.get_payload(0).walk()]
    blocks = [block for part in parts if part.get_content_type() == 'message/delivery-status' for block in part.get_payload()]
    inner += blocks
    return {'defects': defects, 'subject': message['subject'], 'date': message['date'].datetime.timestamp(),
      'from': addresses(message['from']), 'to': addresses(message['to']), 'cc': addresses(message['cc']), 'replyTo': addresses(message['reply-to']),
      'fields': {name.lower(): str(value) for name, value in message.items()},
      'structure': [part.get_content_type() for part in parts if part not in inner],
      'parts': [describe(part) for part in whole if part not in inner],
      'statuses': [{name.lower(): str(value) for name, value in block.items()} for block in blocks]}
print(json.dumps([tell(read(base64.b64decode(line))) for line in json.load(sys.stdin)]))
`

/** Returns Python's result for each message. */
export async function readByPython(messages: readonly Buffer[]): Promise<readonly PythonMail[]> {
  const child = run('/usr/bin/python3', ['-c', reader], { maxBuffer: 1 << 28 })
  child.child.stdin?.end(JSON.stringify(messages.map((message) => message.toString('base64'))))
  return JSON.parse((await child).stdout, (key, value: unknown) =>
    key === 'octets' ? Buffer.from(String(value), 'base64') : value,
  ) as readonly PythonMail[]
}
