"""Projects, teams, memberships, invitations, tokens and notifications as JSON."""

from __future__ import annotations

from rest_framework import serializers

from replaycases.accounts.models import ApiToken, Invitation, Membership, Project, Scope, Team, User
from replaycases.accounts.roles import Role
from replaycases.api.serializers.fields import EnumField, ScopedField, ScopedProjectField
from replaycases.api.serializers.shapes import row, shape
from replaycases.cases.models import Notification
from replaycases.cases.people import LONGEST_TOKEN_DAYS, NAME_CAP

ProjectSerializer = row("ProjectSerializer", Project, "id key name retention_days review_after_days")
ProjectChange = shape(
    "ProjectChange",
    retention_days=serializers.IntegerField(min_value=1, max_value=32767),
    review_after_days=serializers.IntegerField(min_value=1, max_value=32767),
)
TeamSerializer = row(
    "TeamSerializer", Team, "id project name members", "People who own boundaries together. It gives no role."
)
NewTeam = shape("NewTeam", project=ScopedProjectField(), name=serializers.CharField(max_length=NAME_CAP))
TeamChange = shape("TeamChange", name=serializers.CharField(max_length=NAME_CAP))
TeamMembers = shape("TeamMembers", members=ScopedField(queryset=User.objects.all(), many=True))

MembershipSerializer = row(
    "MembershipSerializer",
    Membership,
    "id project user username display_name role",
    "One role of one person in one project.",
    username=serializers.CharField(source="user.username", read_only=True),
    display_name=serializers.CharField(source="user.display_name", read_only=True),
    role=serializers.ChoiceField(choices=Role.choices, read_only=True),
)
NewMembership = shape(
    "NewMembership",
    project=ScopedProjectField(),
    user=ScopedField(queryset=User.objects.all()),
    role=EnumField(Role),
)
_ROLES = serializers.ListField(child=serializers.ChoiceField(choices=Role.choices), read_only=True)
_SECRET = serializers.CharField(read_only=True, help_text="Shown once and not kept.")
InvitationSerializer = row(
    "InvitationSerializer",
    Invitation,
    "id project email roles invited_by created_at expires_at accepted_at accepted_by revoked_at",
    roles=_ROLES,
)
NewInvitation = shape(
    "NewInvitation",
    project=ScopedProjectField(),
    email=serializers.EmailField(max_length=254),
    roles=serializers.ListField(child=EnumField(Role), min_length=1, max_length=len(Role)),
)
MadeInvitation = shape("MadeInvitation", invitation=InvitationSerializer(read_only=True), link=_SECRET)

_SCOPES = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices), read_only=True)
TokenSerializer = row(
    "TokenSerializer",
    ApiToken,
    "id project name prefix scopes created_at expires_at last_used_at revoked_at revoked_by",
    "The secret itself is not kept.",
    scopes=_SCOPES,
)
NewToken = shape(
    "NewToken",
    project=ScopedProjectField(),
    name=serializers.CharField(max_length=NAME_CAP),
    scopes=serializers.ListField(
        child=serializers.ChoiceField(choices=Scope.choices), min_length=1, max_length=len(Scope)
    ),
    days=serializers.IntegerField(min_value=1, max_value=LONGEST_TOKEN_DAYS),
)
MadeToken = shape("MadeToken", token=TokenSerializer(read_only=True), secret=_SECRET)

NotificationSerializer = row(
    "NotificationSerializer", Notification, "id case incident_report kind text created_at read_at"
)
