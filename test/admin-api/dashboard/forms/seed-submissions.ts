/** Creates the form of a workshop with submissions, and a reply template. */
import { multipartBody, multipartType } from '../../rest/forms/multipart-body.ts'
import type { DashboardServer } from '../dashboard-server.ts'

type Json = Readonly<Record<string, unknown>>

export interface SeededForm {
  readonly form: string
  /** Ids of submissions, oldest first. */
  readonly submissions: readonly string[]
  readonly template: string
  /** Sends another submission as a visitor. */
  submit(data: Json, more?: Json): Promise<string>
}

const fields = [
  { key: 'name', type: 'text', label: 'Your name', autocomplete: 'name' },
  { key: 'email', type: 'email', label: 'Email', autocomplete: 'email' },
  {
    ...{ key: 'topic', type: 'select', label: 'What is it about?' },
    options: [
      { value: 'repair', label: 'A repair' },
      { value: 'rental', label: 'A rental' },
    ],
  },
  { key: 'bike', type: 'text', label: 'Which bike?' },
  { key: 'message', type: 'textarea', label: 'Your message' },
  { key: 'consent', type: 'consent', label: 'Consent', text: 'You may answer me by mail.', required: false },
]

const visitors: readonly Json[] = [
  {
    name: 'Familie Graf',
    email: 'graf@example.net',
    topic: 'rental',
    message: 'We would like two bikes for a tour around the lake in May.',
  },
  { name: 'Marco Bianchi', email: 'marco@example.net', message: 'Vorrei sapere se fate anche le ruote in legno.' },
  { name: 'Bettina Hauser', email: 'bettina@example.net', topic: 'repair', message: 'Could the children’s trailer be ready by the 29th?' },
  { name: 'Jonas Keller', email: 'jonas@example.net', message: 'Do you have the 28-inch rim for a 1986 Condor?' },
  {
    ...{
      name: 'Ruth Amstutz',
      email: 'ruth.amstutz@example.net',
      topic: 'repair',
      bike: 'Tour de Suisse, green, three gears',
      consent: true,
    },
    message:
      'Since Sunday the rear hub grinds in second gear, louder when it is cold. I need it for the commute: would Thursday evening work?',
  },
]

/** The service drops unknown fields, so answers may contain more fields than the form. */
export async function seedForm({ daemon: { rest } }: DashboardServer, name = 'Contact', answers = visitors): Promise<SeededForm> {
  const definition = { name, schema: { version: 1, fields }, settings: { min_fill_seconds: 0 } }
  const { id, public_id: open } = await rest.must('POST', '/v1/forms', { name, definition })
  await rest.must('POST', `/v1/forms/${String(id)}/publish`)
  const submit = async (data: Json, more: Json = {}): Promise<string> => {
    const { fill_time_token: _mnx_ft } = await rest.must('GET', `/v1/public/forms/${String(open)}`)
    return String((await rest.must('POST', `/v1/public/forms/${String(open)}/submissions`, { data, _mnx_ft, ...more }))['id'])
  }
  const submissions: string[] = []
  for (const data of answers) submissions.push(await submit(data))
  const template = await rest.must('POST', '/v1/templates', {
    ...{ slug: 'offer', name: 'Appointment offer', subject_tmpl: 'Your repair: {{.day}}' },
    text_tmpl:
      'Dear {{.fields.name}}\n\nThank you for your message about the {{.fields.bike}}. Bring it on {{.day}}; we open the hub while you wait.',
    schema_json: {
      type: 'object',
      properties: { fields: { type: 'object' }, form: { type: 'object' }, day: { type: 'string' } },
      required: ['fields', 'form', 'day'],
    },
  })
  return { form: String(id), submissions, template: String(template['id']), submit }
}

/** Creates a published form with file fields, and a submission with files. */
export async function seedFiles(
  { daemon: { rest } }: DashboardServer,
  files: readonly (readonly [octets: Buffer, name: string])[],
): Promise<{ readonly form: string; readonly submission: string }> {
  const uploads = files.map((_, at) => ({ key: `file_${String(at + 1)}`, type: 'file_upload', label: `File ${String(at + 1)}` }))
  const schema = { version: 1, fields: [{ key: 'name', type: 'text', label: 'Your name' }, ...uploads] }
  const definition = { name: 'Repairs', schema, settings: { min_fill_seconds: 0 } }
  const { id, public_id: publicId } = await rest.must('POST', '/v1/forms', { name: 'Repairs', definition })
  await rest.must('POST', `/v1/forms/${String(id)}/publish`)
  const open = `/v1/public/forms/${String(publicId)}`
  const { fill_time_token: _mnx_ft } = await rest.must('GET', open)
  const body = multipartBody([
    ['data', JSON.stringify({ data: { name: 'Lea Widmer' }, _mnx_ft })],
    ...files.map(([octets, name], at) => [`file_${String(at + 1)}`, octets, name] as const),
  ])
  const answer = await rest.call('POST', `${open}/submissions`, body, { 'content-type': multipartType() })
  return { form: String(id), submission: String((answer.body as Json)['id']) }
}
