/** Typical forms: every type of field, steps, logic, languages, themes. */

export type Row = Readonly<Record<string, unknown>>

const options = (...labels: readonly string[]): readonly Row[] => labels.map((label, at) => ({ value: `o${at + 1}`, label }))
const form = (name: string, fields: readonly Row[], more: Row = {}): Row => ({
  name,
  ...more,
  schema: { version: 1, fields, ...(more['layout'] !== undefined && { layout: more['layout'] }) },
})
const definition = ({ layout: _, ...rest }: Row): Row => rest
const rows = (...all: readonly (readonly string[])[]): Row => ({ version: 1, rows: all.map((fields) => ({ fields })) })

const contact = form(
  'Talk to the workshop',
  [
    {
      key: 'intro',
      type: 'paragraph',
      text: 'Tell us what your bike is doing, or should be doing. Two mechanics and a dog read every message.',
    },
    {
      key: 'facts',
      type: 'paragraph',
      text: '- Answer: within one working day\n- Phone: 031 555 01 77, Tue to Sat\n- Workshop: Lorrainestrasse 21, Bern',
    },
    { key: 'name', type: 'text', label: 'Your name', required: true, autocomplete: 'name' },
    { key: 'email', type: 'email', label: 'Email', required: true, autocomplete: 'email' },
    {
      key: 'topic',
      type: 'radio',
      label: 'What is it about?',
      required: true,
      options: options('A repair', 'A new bike', 'Spare parts', 'Something else'),
    },
    { key: 'bike', type: 'text', label: 'Which bike?', help: 'Make and model, or a short description.' },
    {
      key: 'message',
      type: 'textarea',
      label: 'Your message',
      required: true,
      help: 'Noises, smells and dates help us most.',
      max_length: 2000,
    },
    { key: 'phone', type: 'phone', label: 'Phone', help: 'Only if you would rather be called.', autocomplete: 'tel', width: 'half' },
    {
      key: 'privacy',
      type: 'consent',
      label: 'Privacy',
      label_hidden: true,
      required: true,
      text: 'We may use these details to answer me. [How we treat your data](https://example.ch/privacy)',
    },
    { key: 'fine', type: 'paragraph', text: 'Goes to the two people at the counter. No newsletter, no tracking.' },
  ],
  {
    layout: rows(['intro'], ['facts'], ['name', 'email'], ['topic'], ['bike'], ['message'], ['phone'], ['privacy'], ['fine']),
    settings: { submit_label: 'Send to the workshop' },
    thank_you: { title: 'It is on the workbench', body: 'We answer on the next working day, most often before noon.' },
  },
)

const support = form(
  'Get help from a person',
  [
    { key: 'first', type: 'page_break', title: 'What happened' },
    {
      key: 'about',
      type: 'radio',
      label: 'What is it about?',
      required: true,
      options: options(
        'My website is down or slow\nAn error page, a blank page, long waits',
        'Email does not arrive\nSending, receiving, spam folder',
        'Something else',
      ),
    },
    { key: 'site', type: 'url', label: 'Which website?', required: true, help: 'The address as you type it in the browser.' },
    { key: 'since', type: 'date', label: 'Since when?', max: 'today', width: 'half' },
    { key: 'second', type: 'page_break', title: 'Details' },
    {
      key: 'bad',
      type: 'radio',
      label: 'How bad is it?',
      required: true,
      options: options('Nobody can use the site', 'One part is broken', 'It works, but not as it should'),
    },
    {
      key: 'before',
      type: 'textarea',
      label: 'What did you do just before?',
      required: true,
      help: 'An update, a new plugin, a DNS change. “Nothing” is an answer too.',
    },
    { key: 'text', type: 'text', label: 'Error message, word for word' },
    { key: 'shot', type: 'file_upload', label: 'Screenshot', accept: ['png', 'jpeg'] },
    { key: 'third', type: 'page_break', title: 'How to reach you' },
    { key: 'name', type: 'text', label: 'Your name', required: true, width: 'half' },
    { key: 'email', type: 'email', label: 'Email of your account', required: true, width: 'half' },
    { key: 'how', type: 'radio', label: 'How should we answer?', required: true, options: options('By email', 'By phone') },
    { key: 'phone', type: 'phone', label: 'Phone', required: true, width: 'half' },
  ],
  {
    settings: { submit_label: 'Send to support' },
    logic: {
      version: 1,
      rules: [
        { id: 'r1', when: { field: 'about', op: 'eq', value: 'o1' }, then: [{ action: 'show', target: 'before' }] },
        { id: 'r2', when: { field: 'how', op: 'eq', value: 'o2' }, then: [{ action: 'show', target: 'phone' }] },
        {
          id: 'r3',
          when: { all: [{ field: 'about', op: 'eq', value: 'o3' }, { not: { field: 'site', op: 'is_empty' } }] },
          then: [{ action: 'jump', page: 3 }],
        },
      ],
    },
  },
)

const everything = form('Every type of field', [
  { key: 'h', type: 'heading', text: 'Things to type', level: 2 },
  { key: 'text', type: 'text', label: 'Text', required: true, placeholder: 'A few words', width: 'third' },
  { key: 'email', type: 'email', label: 'Email', width: 'third', prefill: true },
  { key: 'phone', type: 'phone', label: 'Phone', width: 'third' },
  { key: 'area', type: 'textarea', label: 'Long text', rows: 3, max_length: 500 },
  { key: 'url', type: 'url', label: 'Link', width: 'two_thirds' },
  { key: 'number', type: 'number', label: 'Years', unit: 'years', min: 0, integer: true, width: 'third' },
  { key: 'date', type: 'date', label: 'Day', min: 'today', width: 'third' },
  { key: 'time', type: 'time', label: 'Time', width: 'third' },
  { key: 'datetime', type: 'datetime', label: 'Both', width: 'third' },
  { key: 'line', type: 'divider' },
  { key: 'h3', type: 'heading', text: 'Things to choose', level: 3 },
  { key: 'select', type: 'select', label: 'One of a list', options: options('Bern', 'Basel', 'Zürich'), allow_other: true },
  { key: 'radio', type: 'radio', label: 'One of these', options: options('Tea', 'Coffee', 'Water') },
  { key: 'other', type: 'radio', label: 'One of these, or another', options: options('Red', 'Blue'), allow_other: true },
  {
    key: 'many',
    type: 'checkboxes',
    label: 'Several of these',
    options: options('Monday', 'Tuesday', 'Wednesday', 'Thursday'),
    min_selected: 1,
    max_selected: 3,
  },
  { key: 'tick', type: 'checkbox', label: 'Call me back', default: true },
  { key: 'stars', type: 'rating', label: 'Stars', max: 5, required: true },
  { key: 'faces', type: 'rating', label: 'Faces', max: 5, style: 'smiley', labels: ['Awful', 'Bad', 'Fair', 'Good', 'Great'] },
  { key: 'numbers', type: 'rating', label: 'Numbers', max: 4, style: 'number' },
  {
    key: 'scale',
    type: 'scale',
    label: 'Would you bring a friend?',
    min: 0,
    max: 10,
    low_label: 'certainly not',
    high_label: 'already did',
  },
  { key: 'ok', type: 'consent', label: 'Consent', text: 'You may **keep** this.\nFor a year.', version_label: 'May 2026' },
  { key: 'from', type: 'hidden', source: 'url_param', param: 'utm_source' },
  { key: 'fixed', type: 'hidden', source: 'static', default: 'secret-static' },
  { key: 'file', type: 'file_upload', label: 'File' },
  { key: 'text_end', type: 'paragraph', text: '1. First\n2. Second\n\nWith *stress* and [mail](mailto:ada@example.ch).' },
])

const arabic = form(
  'طلب موعد في العيادة',
  [
    { key: 'intro', type: 'paragraph', text: 'املأ الاستمارة وسنتصل بك لتأكيد الموعد. لا تكتب هنا تفاصيل طبية حساسة.' },
    { key: 'facts', type: 'paragraph', text: '- الرد: خلال يوم عمل واحد\n- الهاتف: \u2066+41 44 555 02 10\u2069' },
    { key: 'name', type: 'text', label: 'الاسم الكامل', required: true, width: 'half' },
    { key: 'email', type: 'email', label: 'البريد الإلكتروني', required: true, width: 'half' },
    { key: 'phone', type: 'phone', label: 'الهاتف', width: 'half' },
    { key: 'day', type: 'date', label: 'اليوم المفضل', required: true, width: 'half' },
    { key: 'kind', type: 'radio', label: 'نوع الزيارة', required: true, options: options('زيارة أولى', 'متابعة') },
    { key: 'notes', type: 'textarea', label: 'ملاحظات للعيادة' },
    {
      key: 'ok',
      type: 'consent',
      label: 'الموافقة',
      label_hidden: true,
      required: true,
      text: 'أوافق على استخدام هذه البيانات لتحديد الموعد.',
    },
  ],
  { locale: 'ar', settings: { submit_label: 'إرسال الطلب' } },
)

const survey: readonly Row[] = [
  { key: 'intro', type: 'paragraph', text: 'You climbed here in the past month. Say it as it is; the setters read this on Mondays.' },
  {
    key: 'friend',
    type: 'scale',
    label: 'Would you bring a friend?',
    min: 0,
    max: 10,
    low_label: 'certainly not',
    high_label: 'already did',
    required: true,
  },
  { key: 'reason', type: 'textarea', label: 'What is the main reason?' },
  { key: 'stars', type: 'rating', label: 'The new boulders, in stars', max: 5, required: true },
  {
    key: 'stay',
    type: 'checkboxes',
    label: 'What should stay?',
    options: options('Early opening at 6:30', 'Women’s Wednesday', 'Kids’ wall', 'Coffee'),
  },
  { key: 'email', type: 'email', label: 'Email', help: 'Only if we may ask back.' },
]

const image = { key: 'photo', type: 'image', src: 'https://images.invalid/hall.jpg', alt: 'The new hall', caption: 'Opened in May' }

/** Forms by name; each is published unchanged. */
export const golden: Readonly<Record<string, Row>> = Object.fromEntries(
  Object.entries({
    contact,
    support,
    everything,
    arabic,
    survey: form('Two minutes about the new hall', survey, { settings: { submit_label: 'Hand it in' } }),
    bold: form('Two minutes about the new hall', survey, {
      theme: {
        mode: 'light',
        radius: 'none',
        colors: { primary: '#4A1FD0', background: '#FFD927', text: '#15120A', muted: '#514A34', border: '#7C765F', error: '#B00020' },
      },
    }),
    warm: {
      ...contact,
      theme: {
        mode: 'light',
        radius: 'lg',
        font: 'serif',
        colors: {
          primary: '#97391A',
          background: '#F1E3CE',
          surface: '#FFFBF4',
          text: '#2B1E13',
          muted: '#66513C',
          border: '#967C60',
          error: '#A3122A',
        },
      },
    },
    round: {
      ...contact,
      theme: {
        mode: 'auto',
        radius: 'full',
        font: 'rounded',
        colors: { primary: '#A01F63', background: '#FBE6EF', text: '#2A1020', muted: '#6C4659', border: '#957086' },
      },
    },
    images: form('The hall', [
      image,
      { key: 'name', type: 'text', label: 'Name' },
      { ...image, key: 'again', alt: '' },
      { key: 'more', type: 'text', label: 'More', help: 'First line\nSecond line' },
    ]),
    french: {
      ...contact,
      locale: 'en',
      translations: {
        fr: {
          name: 'Parlez à l’atelier',
          'fields.name.label': 'Votre nom',
          'settings.submit_label': 'Envoyer à l’atelier',
          'fields.topic.options.o1': 'Une réparation',
        },
      },
    },
    german: form(
      'Anmeldung zur Führung durch die Donaudampfschifffahrtsgesellschaft',
      [
        { key: 'name', type: 'text', label: 'Name', required: true },
        { key: 'seats', type: 'number', label: 'Plätze', unit: 'Plätze', required: true, min: 1, max: 8 },
      ],
      { locale: 'de-CH' },
    ),
    closed: { ...contact, settings: { close_at: '2029-01-01T00:00:00Z', closed_message: 'The workshop is on holiday until 4 January.' } },
    // keys that are names of properties of forms and elements
    names: form(
      'Names',
      ['action', 'elements', 'closest', 'append', 'before', 'submit', 'method', 'children', 'dataset', 'hidden', 'title', 'name', 'id'].map(
        (key) => ({ key, type: 'text', label: `The ${key}`, width: 'half', required: key === 'before' }),
      ),
    ),
    one: form('Newsletter', [{ key: 'email', type: 'email', label: 'Email', required: true }]),
  }).map(([name, row]) => [name, definition(row)]),
)
