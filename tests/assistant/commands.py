"""The commands of the assistant, as a model writes them: placeholders for what differs."""

SCHEMA = """
UPSERT {
  CONCEPT ?work {
    {type: "Domain", name: "Work"}
    SET ATTRIBUTES { description: "Projects, employers and colleagues." }
  }
  CONCEPT ?people {
    {type: "Domain", name: "People"}
    SET ATTRIBUTES { description: "Whom I know, and what they like." }
  }
  CONCEPT {
    {type: "$ConceptType", name: "Project"}
    SET ATTRIBUTES { description: "A piece of work with a goal." }
    SET PROPOSITIONS { ("belongs_to_domain", ?work) }
  }
  CONCEPT {
    {type: "$ConceptType", name: "Company"}
    SET ATTRIBUTES { description: "An employer." }
    SET PROPOSITIONS { ("belongs_to_domain", ?work) }
  }
  CONCEPT {
    {type: "$PropositionType", name: "works_at"}
    SET ATTRIBUTES {
      description: "The person is employed by the company.",
      subject_types: ["Person"], object_types: ["Company"]
    }
    SET PROPOSITIONS { ("belongs_to_domain", ?work) }
  }
  CONCEPT {
    {type: "$PropositionType", name: "stated"}
    SET ATTRIBUTES {
      description: "The person has said so.", subject_types: ["Person"], object_types: ["*"]
    }
  }
}
"""
ADD_PROJECT = """
UPSERT {
  CONCEPT { {type: "Project", name: :name} SET ATTRIBUTES { goal: :goal, aliases: :aliases } }
}
WITH METADATA { source: :source, author: "$self" }
"""
ADD_COMPANY = """
UPSERT { CONCEPT { {type: "Company", name: :name} SET ATTRIBUTES { city: :city } } }
WITH METADATA { source: :source, author: "$self" }
"""
MEET = """
UPSERT {
  CONCEPT ?person {
    {type: "Person", name: :name}
    SET ATTRIBUTES {
      id: :name, person_class: "Human", name: :called, birthday: :birthday, aliases: :aliases
    }
    SET PROPOSITIONS { ("works_at", {type: "Company", name: :company}) }
  }
}
WITH METADATA { source: :source, author: "$self", confidence: 0.8 }
"""
TALK = """
UPSERT {
  CONCEPT ?event {
    {type: "Event", name: :name}
    SET ATTRIBUTES {
      event_class: "Conversation", start_time: :at, content_summary: :summary,
      participants: [:first, :second]
    }
    SET PROPOSITIONS {
      ("involves", {type: "Person", name: :first})
      ("involves", {type: "Person", name: :second})
      ("mentions", {type: "Project", name: :project})
    }
  }
}
WITH METADATA { source: "chat", author: "$self", expires_at: :expires_at }
"""
COUNT_TALK = """
UPDATE ?person
SET ATTRIBUTES { talks: ADD(COALESCE(?person.attributes.talks, 0), 1), last_seen_at: :at }
WHERE { ({type: "Event", name: :name}, "involves", ?person) }
"""
PREFER = """
UPSERT {
  CONCEPT ?first {
    {type: "Preference", name: :first}
    SET ATTRIBUTES { preference_class: "leisure", strength: :strength }
  }
  CONCEPT ?second {
    {type: "Preference", name: :second}
    SET ATTRIBUTES { preference_class: "leisure", strength: :strength }
  }
  CONCEPT ?third {
    {type: "Preference", name: :third}
    SET ATTRIBUTES { preference_class: "leisure", strength: :strength }
  }
  CONCEPT {
    {type: "Person", name: :person}
    SET PROPOSITIONS { ("prefers", ?first) ("prefers", ?second) ("prefers", ?third) }
  }
}
"""
START_WORK = """
UPSERT {
  PROPOSITION {
    ({type: "Person", name: :person}, "works_at", {type: "Company", name: :company})
  }
}
WITH METADATA { source: :source, author: "$self" }
"""
# docs/how-to/facts-that-change.md: a fact that is stated again holds again.
HOLDS_AGAIN = """
DELETE METADATA {"superseded", "superseded_at", "valid_until"} FROM ?link
WHERE {
  ?link ({type: "Person", name: :person}, "works_at", {type: "Company", name: :company})
  FILTER(?link.metadata.superseded == true)
}
"""
END_WORK = """
UPDATE ?link
SET METADATA { superseded: true, superseded_at: :at, valid_until: :at }
WHERE {
  ?link ({type: "Person", name: :person}, "works_at", ?company)
  FILTER(?link.metadata.superseded != true)
}
"""
HEAR = """
UPSERT {
  PROPOSITION {
    ({type: "Person", name: :witness}, "stated",
     ({type: "Person", name: :person}, "works_at", {type: "Company", name: :company}))
  }
}
WITH METADATA { source: :source, confidence: :confidence }
"""
CORRECT = """
UPDATE ?person SET ATTRIBUTES { birthday: :birthday }
WHERE { ?person {type: "Person", name: :name} }
"""
UNLEARN = """
DELETE ATTRIBUTES {"birthday"} FROM ?person WHERE { ?person {type: "Person", name: :name} }
"""
PROMISE = """
UPSERT {
  CONCEPT ?promise {
    {type: "Commitment", name: :name}
    SET ATTRIBUTES {
      description: :description, status: "open", promised_by: :by, promised_to: :to,
      made_at: :at, due_at: :due_at, importance: :importance
    }
    SET PROPOSITIONS { ("derived_from", {type: "Event", name: :event}) }
  }
}
"""
CLOSE_PROMISE = """
UPDATE ?promise SET ATTRIBUTES { status: :status, closed_at: :at }
WHERE { ?promise {type: "Commitment", name: :name} }
"""
TRY = """
UPSERT {
  CONCEPT ?first {
    {type: "ExperienceStep", name: :first}
    SET ATTRIBUTES { position: 1, action: "Ask for the date.", status: "succeeded" }
  }
  CONCEPT ?second {
    {type: "ExperienceStep", name: :second}
    SET ATTRIBUTES { position: 2, action: "Write the report.", status: "succeeded" }
  }
  CONCEPT ?third {
    {type: "ExperienceStep", name: :third}
    SET ATTRIBUTES { position: 3, action: "Send it.", status: :status }
  }
  CONCEPT {
    {type: "Experience", name: :name}
    SET ATTRIBUTES {
      goal: :goal, situation: "As usual.", status: :status, start_time: :at,
      task_class: "send_report"
    }
    SET PROPOSITIONS { ("has_step", ?first) ("has_step", ?second) ("has_step", ?third) }
  }
}
"""
LEAVE_TASK = """
UPSERT {
  CONCEPT {
    {type: "SleepTask", name: :name}
    SET ATTRIBUTES {
      requested_action: :action, status: "pending", priority: :priority, target_type: :type,
      target_name: :target, requested_by: "$self", requested_at: :at, parameters: :details
    }
  }
}
"""
CLOSE_TASK = """
UPDATE ?task SET ATTRIBUTES { status: :status, finished_at: :at }
WHERE { ?task {type: "SleepTask", name: :name} }
"""
PENDING = """
FIND(?task.name, ?task.attributes.requested_action)
WHERE { ?task {type: "SleepTask"} FILTER(?task.attributes.status == "pending") }
ORDER BY ?task.attributes.priority DESC, ?task.attributes.requested_at, ?task.name
LIMIT :most
"""
CONSOLIDATE = """
UPSERT {
  CONCEPT ?insight {
    {type: "Insight", name: :insight}
    SET ATTRIBUTES { description: :description, evidence_count: 1 }
    SET PROPOSITIONS {
      ("derived_from", {type: "Event", name: :event})
      ("belongs_to_domain", {type: "Domain", name: "People"})
    }
  }
  CONCEPT {
    {type: "Event", name: :event}
    SET PROPOSITIONS { ("consolidated_to", ?insight) }
  }
}
WITH METADATA { source: "sleep", author: "$system" }
"""
FILE = """
UPSERT {
  PROPOSITION {
    ({type: :type, name: :name}, "belongs_to_domain", {type: "Domain", name: :domain})
  }
}
"""
MERGE = """
MERGE CONCEPT ?double INTO ?person
WHERE {
  ?double {type: "Person", name: :double}
  ?person {type: "Person", name: :name}
}
"""
EXPIRE = """
DELETE CONCEPT ?event DETACH
WHERE { ?event {type: "Event"} FILTER(?event.metadata.expires_at < :now) }
"""
