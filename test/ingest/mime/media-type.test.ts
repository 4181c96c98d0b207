/** Media types as parts of messages declare them. */
import test from '#test'
import { safeContentType } from '#ingest/mime/media-type.ts'

test('safeContentType() passes types and nothing else', (t) => {
  t.is(safeContentType(' Text/HTML '), 'text/html')
  t.is(safeContentType('application/vnd.ms-excel.sheet+xml'), 'application/vnd.ms-excel.sheet+xml')
  for (const bad of [undefined, '', 'text', 'text/', '/x', 'a/b/c', 'text/html\r\nX: 1', 'text/html; charset=x', 'false']) {
    t.is(safeContentType(bad), 'application/octet-stream')
  }
})
