/** The types of buckets of a new CRUSH map, by their ids, which go from the narrowest to the widest. */
export const crushTypes: readonly string[] = [
  'osd',
  'host',
  'chassis',
  'rack',
  'row',
  'pdu',
  'pod',
  'room',
  'datacenter',
  'zone',
  'region',
  'root',
]
