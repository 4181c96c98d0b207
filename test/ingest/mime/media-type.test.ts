/** Media types declared by message parts. */
import test from '#test'
import { safeContentType } from '#ingest/mime/media-type.ts'

test('safeContentType() accepts media types only', (t) => {
  t.is(safeContentType(' Text/HTML '), 'text/html')
  t.is(safeContentType('application/vnd.ms-excel.sheet+xml'), 'application/vnd.ms-excel.sheet+xml')
  for (const bad of [undefined, '', 'text', 'text/', '/x', 'a/b/c', 'text/html\r\nX: 1', 'text/html; charset=x', 'false']) {
    t.is(safeContentType(bad), 'application/octet-stream')
  }
})
